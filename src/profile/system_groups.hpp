// Locations by the part of the system that they belong to.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "defs/system_tree.hpp"

namespace fathom {

enum class SystemLevel : std::uint8_t {
  node,     // the innermost part of the machine around a process
  process,  // rank, accelerator, ...
  thread,   // locations themselves
};
// "node", "process" or "rank", "thread" or "location".
std::optional<SystemLevel> system_level(std::string_view name);

struct SystemGroup {
  SystemNodeId node;                  // invalid: of locations that lie in none
  std::string name;                   // unique among the groups
  std::vector<LocationId> locations;  // ascending
};

// In the order of the tree; `chosen` empty: all locations. Groups without any are left out.
std::vector<SystemGroup> system_groups(const SystemTree& system, SystemLevel level,
                                       std::span<const LocationId> chosen = {});

}  // namespace fathom
