#include "profile/algebra/topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"

namespace fathom::algebra {

namespace {

ProfilePtr with_definitions(const ProfilePtr& profile, Definitions defs) {
  auto out = std::make_shared<Profile>(*profile);
  out->definitions = std::make_shared<const Definitions>(std::move(defs));
  return out;
}

// In the order of their ids for locations, of the document for the others. A node is what has processes in it.
std::vector<SystemNodeId> members(const SystemTree& system, TopologyOf of) {
  if (of == TopologyOf::locations) return system.locations;
  std::vector<SystemNodeId> out;
  std::vector<bool> holds_groups(system.nodes.size(), false);
  for (const SystemNode& node : system.nodes) {
    if (node.kind == SystemKind::group && node.parent.valid()) holds_groups[node.parent.index()] = true;
  }
  for (std::size_t i = 0; i < system.nodes.size(); ++i) {
    if (of == TopologyOf::groups ? system.nodes[i].kind == SystemKind::group : holds_groups[i]) out.emplace_back(i);
  }
  return out;
}

Result<void> check_dimensions(const std::vector<TopologyDimension>& dimensions) {
  if (dimensions.empty()) return Error::usage("a topology needs at least one dimension");
  for (const TopologyDimension& dimension : dimensions) {
    if (dimension.size == 0) return Error::usage("a dimension has at least one place");
    if (dimension.name.empty() != dimensions[0].name.empty()) {
      return Error::usage("either all dimensions have a name or none");
    }
  }
  return success();
}

Result<std::vector<Topology::Coordinate>> in_order(const std::vector<TopologyDimension>& dimensions,
                                                   const std::vector<SystemNodeId>& members) {
  std::uint64_t places = 1;
  for (const TopologyDimension& dimension : dimensions) {
    if (places < members.size()) places *= std::min<std::uint64_t>(dimension.size, members.size());
  }
  if (places < members.size()) {
    return Error::usage(fmt::format("the topology has {} places, too few for {}", places, members.size()));
  }
  std::vector<Topology::Coordinate> out;
  std::vector<std::uint64_t> at(dimensions.size(), 0);
  for (const SystemNodeId member : members) {
    out.push_back({member, at});
    for (std::size_t d = at.size(); d-- > 0;) {
      if (++at[d] < dimensions[d].size) break;
      at[d] = 0;
    }
  }
  return out;
}

Result<std::vector<Topology::Coordinate>> as_listed(const SystemTree& system, const NewTopology& wanted,
                                                    const std::vector<SystemNodeId>& members) {
  std::map<std::uint64_t, SystemNodeId> by_id;
  for (const SystemNodeId member : members) by_id.emplace(system.nodes[member.index()].file_id, member);
  std::vector<Topology::Coordinate> out;
  std::uint64_t number = 0;
  for (std::string_view text : split(wanted.coordinates, '\n')) {
    ++number;
    text = trim(text.substr(0, text.find('#')));
    if (text.empty()) continue;
    std::vector<std::uint64_t> numbers;
    std::string words(text);
    std::replace_if(
        words.begin(), words.end(), [](char c) { return c == ',' || c == '\t' || c == '\r'; }, ' ');
    for (const std::string_view word : split(words, ' ')) {
      if (word.empty()) continue;
      const auto value = parse_integer<std::uint64_t>(word);
      if (!value) return Error::usage(fmt::format("coordinates, line {}: '{}' is no number", number, word));
      numbers.push_back(*value);
    }
    if (numbers.size() != wanted.dimensions.size() + 1) {
      return Error::usage(fmt::format("coordinates, line {}: expected an id and {} numbers, found {} numbers in all",
                                      number, wanted.dimensions.size(), numbers.size()));
    }
    const auto found = by_id.find(numbers[0]);
    if (found == by_id.end()) {
      return Error::usage(fmt::format("coordinates, line {}: nothing has the id {}", number, numbers[0]));
    }
    numbers.erase(numbers.begin());
    for (std::size_t d = 0; d < numbers.size(); ++d) {
      if (numbers[d] < wanted.dimensions[d].size) continue;
      return Error::usage(fmt::format("coordinates, line {}: {} is outside dimension {}, which has {} places", number,
                                      numbers[d], d, wanted.dimensions[d].size));
    }
    out.push_back({found->second, std::move(numbers)});
  }
  return out;
}

}  // namespace

Result<ProfilePtr> add_topology(const ProfilePtr& profile, const NewTopology& wanted) {
  FATHOM_CHECK(check_dimensions(wanted.dimensions));
  Definitions defs = profile->defs();
  Topology topology;
  topology.name = wanted.name;
  topology.dimensions = wanted.dimensions;
  const std::vector<SystemNodeId> who = members(defs.system, wanted.of);
  FATHOM_TRY(topology.coordinates,
             wanted.coordinates.empty() ? in_order(wanted.dimensions, who) : as_listed(defs.system, wanted, who));
  defs.system.topologies.push_back(std::move(topology));
  return with_definitions(profile, std::move(defs));
}

Result<std::size_t> find_topology(const Definitions& defs, std::string_view which) {
  const auto& all = defs.system.topologies;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].name == which) return i;
  }
  const auto number = parse_integer<std::size_t>(which);
  if (number && *number < all.size()) return *number;
  return Error::usage(fmt::format("there is no topology '{}'; there are {}", which, all.size()));
}

Result<ProfilePtr> rename_topology(const ProfilePtr& profile, std::size_t which, std::string name) {
  Definitions defs = profile->defs();
  defs.system.topologies.at(which).name = std::move(name);
  return with_definitions(profile, std::move(defs));
}

Result<ProfilePtr> name_dimensions(const ProfilePtr& profile, std::size_t which,
                                   const std::vector<std::string>& names) {
  Definitions defs = profile->defs();
  auto& dimensions = defs.system.topologies.at(which).dimensions;
  if (names.size() != dimensions.size()) {
    return Error::usage(fmt::format("the topology has {} dimensions, not {}", dimensions.size(), names.size()));
  }
  for (std::size_t d = 0; d < names.size(); ++d) dimensions[d].name = names[d];
  FATHOM_CHECK(check_dimensions(dimensions));
  return with_definitions(profile, std::move(defs));
}

}  // namespace fathom::algebra
