#include "profile/system_groups.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.hpp"

namespace fathom {

namespace {

SystemNodeId part_around(const SystemTree& system, LocationId location, SystemLevel level) {
  SystemNodeId at = system.locations[location.index()];
  if (level == SystemLevel::thread) return at;
  const SystemKind kind = level == SystemLevel::node ? SystemKind::node : SystemKind::group;
  while (at.valid() && system.nodes[at.index()].kind != kind) at = system.nodes[at.index()].parent;
  if (level != SystemLevel::node) return at;
  // Sockets and the like are parts of a node.
  for (SystemNodeId up = at; up.valid(); up = system.nodes[up.index()].parent) {
    if (equal_ignoring_case(system.nodes[up.index()].type, "node")) return up;
  }
  return at;
}

}  // namespace

std::optional<SystemLevel> system_level(std::string_view name) {
  if (name == "node") return SystemLevel::node;
  if (name == "process" || name == "rank") return SystemLevel::process;
  if (name == "thread" || name == "location") return SystemLevel::thread;
  return std::nullopt;
}

std::vector<SystemGroup> system_groups(const SystemTree& system, SystemLevel level,
                                       std::span<const LocationId> chosen) {
  std::map<std::uint32_t, std::vector<LocationId>> members;  // by node, those without one last
  const auto add = [&](LocationId location) {
    members[part_around(system, location, level).value].push_back(location);
  };
  if (chosen.empty()) {
    for (std::size_t i = 0; i < system.location_count(); ++i) add(LocationId(i));
  } else {
    for (const LocationId location : chosen) add(location);
  }
  std::vector<SystemGroup> out;
  std::map<std::string, std::size_t> uses;
  for (auto& [node, locations] : members) {
    std::sort(locations.begin(), locations.end());
    SystemGroup group{SystemNodeId(node), "(none)", std::move(locations)};
    if (group.node.valid()) group.name = system.nodes[node].name;
    if (level == SystemLevel::thread) group.name = system.location_label(group.locations.front());
    ++uses[group.name];
    out.push_back(std::move(group));
  }
  // Threads 0 of many ranks, or processes without names: the way down tells them apart, or else their number.
  std::set<std::string> taken;
  for (SystemGroup& group : out) {
    if (uses[group.name] > 1 && group.node.valid()) group.name = system.path(group.node);
    if (!taken.insert(group.name).second) {
      group.name += " #" + std::to_string(group.locations.front().value);
      taken.insert(group.name);
    }
  }
  return out;
}

}  // namespace fathom
