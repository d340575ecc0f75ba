// The groups of an experiment that the robust modeler looks at together.
#pragma once

#include <memory>
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

// Series whose values are not all positive, or whose points do not allow it, belong to no group.
RobustGroups make_robust_groups(const Experiment& experiment, Measure measure);

}  // namespace fathom
