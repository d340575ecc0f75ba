// Where things ran: machine, nodes, processes, threads. Locations are the leaves that values and events belong to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "defs/attributes.hpp"

namespace fathom {

using LocationId = Id<struct LocationTag>;      // number of a data column or stream
using SystemNodeId = Id<struct SystemNodeTag>;  // position in the system tree

enum class SystemKind : std::uint8_t {
  node,      // machine, rack, node, ...: `type` says which
  group,     // process, accelerator, ...
  location,  // thread, stream, ...
};

struct SystemNode {
  SystemNodeId parent;  // invalid for roots
  SystemKind kind = SystemKind::node;
  std::string type;  // class of a node, type of a group or location; free text
  std::string name;
  std::string description;
  std::optional<std::int64_t> rank;  // MPI rank of a group, thread number of a location
  std::uint64_t file_id = 0;         // the id the file uses
  std::string label;                 // the same where it is not a number (a stream's path, "rank.thread")
  LocationId location;               // of locations only
  Attributes attributes;
};

struct TopologyDimension {
  std::string name;
  std::uint64_t size = 0;
  bool periodic = false;
};

// A cartesian arrangement of system nodes or locations.
struct Topology {
  struct Coordinate {
    SystemNodeId node;
    std::vector<std::uint64_t> at;
  };
  std::string name;
  std::vector<TopologyDimension> dimensions;
  std::vector<Coordinate> coordinates;
};

struct SystemTree {
  std::vector<SystemNode> nodes;        // parents before children
  std::vector<SystemNodeId> locations;  // by LocationId
  std::vector<Topology> topologies;

  SystemNodeId add(SystemNode node) {
    nodes.push_back(std::move(node));
    return SystemNodeId(nodes.size() - 1);
  }
  // Adds a location; its LocationId is the next free one.
  LocationId add_location(SystemNode node);

  [[nodiscard]] std::size_t location_count() const { return locations.size(); }
  [[nodiscard]] const SystemNode& location(LocationId id) const { return nodes[locations[id.index()].index()]; }
  // The id the file uses, as text: what commands print and accept.
  [[nodiscard]] std::string location_label(LocationId id) const;
  [[nodiscard]] LocationId find_location(std::string_view label) const;
  // The group (process) around a location; invalid when there is none.
  [[nodiscard]] SystemNodeId group_of(LocationId id) const;
  // "machine/node/process/thread"
  [[nodiscard]] std::string path(SystemNodeId id) const;
};

}  // namespace fathom
