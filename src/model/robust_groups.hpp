// The groups of an experiment that the robust modeler looks at together.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "model/options.hpp"
#include "model/robust.hpp"

namespace fathom {

struct RobustMember {
  std::uint32_t group = 0;
  std::uint32_t index = 0;  // inside the group
};

struct RobustGroups {
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  std::vector<std::unique_ptr<RobustGroup>> groups;
  std::vector<std::vector<std::uint32_t>> series;  // of each group
  std::vector<RobustMember> member;                // of each series; group kNone = not for this modeler

  [[nodiscard]] bool has(std::size_t s) const { return s < member.size() && member[s].group != kNone; }
};

// Of a group with more series than this, an even choice of so many speaks for the noise of all.
inline constexpr std::size_t kMostPooled = 1000;

// Series whose values are not all positive, or whose points do not allow it, belong to no group.
RobustGroups make_robust_groups(const Experiment& experiment, Measure measure);
// For `wanted` series alone, which come out as they would with all: the others only say what noise there is.
RobustGroups make_robust_groups(const Experiment& experiment, Measure measure, std::span<const std::uint32_t> wanted);

}  // namespace fathom
