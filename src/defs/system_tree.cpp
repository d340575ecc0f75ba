#include "defs/system_tree.hpp"

namespace fathom {

LocationId SystemTree::add_location(SystemNode node) {
  const LocationId id(locations.size());
  node.kind = SystemKind::location;
  node.location = id;
  locations.push_back(add(std::move(node)));
  return id;
}

std::string SystemTree::location_label(LocationId id) const {
  const SystemNode& node = location(id);
  if (!node.label.empty()) return node.label;
  return std::to_string(node.file_id);
}

LocationId SystemTree::find_location(std::string_view label) const {
  for (std::size_t i = 0; i < locations.size(); ++i) {
    if (location_label(LocationId(i)) == label) return LocationId(i);
  }
  return {};
}

SystemNodeId SystemTree::group_of(LocationId id) const {
  SystemNodeId at = location(id).parent;
  while (at.valid() && nodes[at.index()].kind != SystemKind::group) at = nodes[at.index()].parent;
  return at;
}

std::string SystemTree::path(SystemNodeId id) const {
  std::string out;
  for (; id.valid(); id = nodes[id.index()].parent) {
    const SystemNode& node = nodes[id.index()];
    out = out.empty() ? node.name : node.name + "/" + out;
  }
  return out;
}

}  // namespace fathom
