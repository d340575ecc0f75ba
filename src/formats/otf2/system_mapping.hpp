// Where things ran: tree nodes, processes and locations of an archive as the levels' system tree.
#pragma once

#include <map>

#include "defs/system_tree.hpp"
#include "formats/otf2/archive.hpp"

namespace fathom::otf2 {

inline constexpr std::uint8_t kMpiParadigm = 4;

struct SystemMapping {
  std::vector<std::int32_t> rank_of_location;         // of its process in the whole run; kUnknownPeer = none
  std::map<std::int64_t, SystemNodeId> node_of_rank;  // the process
};

// The group that lists the locations of a paradigm in the order of their ranks; null = there is none.
const GroupDef* find_comm_locations(const GlobalDefinitions& definitions, std::uint8_t paradigm);

Result<SystemMapping> map_system(const Archive& archive, SystemTree& tree);

}  // namespace fathom::otf2
