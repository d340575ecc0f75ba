#include "serve/system_answers.hpp"

#include <map>

#include "base/json.hpp"
#include "serve/wire.hpp"

namespace fathom::serve {

namespace {

constexpr std::size_t kMostCells = 100000;

const SystemNode* above(const SystemTree& system, LocationId id, SystemKind kind) {
  for (SystemNodeId at = system.location(id).parent; at.valid(); at = system.nodes[at.index()].parent) {
    if (system.nodes[at.index()].kind == kind) return &system.nodes[at.index()];
  }
  return nullptr;
}

}  // namespace

Result<Answer> location_columns(const Definitions& defs) {
  const SystemTree& system = defs.system;
  Output out;
  JsonWriter json(out);
  json.begin_object();
  const auto column = [&](std::string_view name, const auto& write) {
    json.key(name).begin_array();
    for (std::size_t i = 0; i < system.location_count(); ++i) write(LocationId(i));
    json.end_array();
  };
  const auto name_above = [&](LocationId id, SystemKind kind) {
    const SystemNode* node = above(system, id, kind);
    write_text(json, node == nullptr ? std::string_view{} : std::string_view(node->name));
  };
  column("label", [&](LocationId id) { write_text(json, system.location_label(id)); });
  column("name", [&](LocationId id) { write_text(json, system.location(id).name); });
  column("process", [&](LocationId id) { name_above(id, SystemKind::group); });
  column("node", [&](LocationId id) { name_above(id, SystemKind::node); });
  column("rank", [&](LocationId id) {
    const SystemNode* group = above(system, id, SystemKind::group);
    if (group != nullptr && group->rank) {
      json.value(*group->rank);
    } else {
      json.value(nullptr);
    }
  });
  json.end_object();
  return Answer::json(out.text());
}

Result<Answer> topologies(const Definitions& defs) {
  const SystemTree& system = defs.system;
  // What lies below each node, so that a process or node stands for its threads.
  std::vector<std::vector<std::size_t>> locations(system.nodes.size());
  for (std::size_t i = 0; i < system.location_count() && !system.topologies.empty(); ++i) {
    for (SystemNodeId at = system.locations[i]; at.valid(); at = system.nodes[at.index()].parent) {
      locations[at.index()].push_back(i);
    }
  }
  Output out;
  JsonWriter json(out);
  json.begin_object().key("topologies").begin_array();
  std::size_t cells = 0;
  for (const Topology& topology : system.topologies) {
    json.begin_object().key("name");
    write_text(json, topology.name);
    json.key("dimensions").begin_array();
    for (const TopologyDimension& dimension : topology.dimensions) {
      json.begin_object().key("name");
      write_text(json, dimension.name);
      json.member("size", dimension.size).member("periodic", dimension.periodic).end_object();
    }
    json.end_array().key("cells").begin_array();
    for (const Topology::Coordinate& coordinate : topology.coordinates) {
      if (++cells > kMostCells) break;
      json.begin_object().key("at").begin_array();
      for (const std::uint64_t at : coordinate.at) json.value(at);
      json.end_array().key("locations").begin_array();
      for (const std::size_t location : locations[coordinate.node.index()]) json.value(location);
      json.end_array().end_object();
    }
    json.end_array().member("all", topology.coordinates.size()).end_object();
  }
  json.end_array().end_object();
  return Answer::json(out.text());
}

}  // namespace fathom::serve
