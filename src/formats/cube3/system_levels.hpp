// A system tree pressed into the four levels of Cube 3: machine, node, process, thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "defs/system_tree.hpp"
#include "formats/cube3/cube3_file.hpp"

namespace fathom::cube3 {

struct LevelledNode {
  FileSystemNode::Kind kind = FileSystemNode::Kind::machine;
  std::uint32_t id = 0;  // counted for each kind on its own
  std::string name;
  std::string description;
  std::int64_t rank = 0;
};

struct SystemLevels {
  std::vector<LevelledNode> nodes;            // in the order of the document
  std::map<SystemNodeId, std::size_t> place;  // where nodes of the tree went
  std::vector<LocationId> threads;            // by thread id
  std::vector<LocationId> others;             // locations that are no threads: there is no place for them
  bool dropped_levels = false;                // between the machine and the node
};

SystemLevels levels_of(const SystemTree& system, bool keep_ids);

}  // namespace fathom::cube3
