// Processes of one thread each, for made profiles.
#pragma once

#include <string>
#include <utility>

#include "defs/system_tree.hpp"

namespace fathom::bench {

inline void add_process(SystemTree& system, SystemNodeId node, std::uint32_t rank, std::string name,
                        std::string thread) {
  SystemNode group;
  group.parent = node;
  group.kind = SystemKind::group;
  group.type = "process";
  group.rank = rank;
  group.name = std::move(name);
  SystemNode location;
  location.parent = system.add(group);
  location.type = "thread";
  location.name = std::move(thread);
  location.rank = 0;
  location.file_id = rank;
  system.add_location(location);
}

}  // namespace fathom::bench
