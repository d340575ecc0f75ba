// Identifier tuples from the system tree.
#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "formats/hpctoolkit/sparse_writer.hpp"

namespace fathom::hpctoolkit {

namespace {

constexpr std::uint16_t kNode = 1;
constexpr std::uint16_t kRank = 2;
constexpr std::uint16_t kThread = 3;
constexpr std::uint16_t kGpuStream = 6;
constexpr std::uint16_t kLogicalOnly = 3;  // XML generation: how the ids came about

std::uint16_t flags_of(bool physical, Generation generation) {
  if (generation == Generation::meta) return physical ? 1 : 0;
  return physical ? 0 : kLogicalOnly;
}

// "NODE:0:296485632:p;THREAD:3:3:-", as the readers note it.
std::vector<Identifier> parse_tuple(std::string_view text, const std::vector<std::string>& id_names,
                                    Generation generation) {
  std::vector<Identifier> tuple;
  for (const std::string_view element : split(text, ';')) {
    const auto parts = split(element, ':');
    if (parts.size() != 4) return {};
    const auto name = std::find(id_names.begin(), id_names.end(), parts[0]);
    const auto logical = parse_integer<std::uint64_t>(parts[1]);
    const auto physical = parse_integer<std::uint64_t>(parts[2]);
    if (name == id_names.end() || !logical || !physical) return {};
    Identifier id;
    id.kind = static_cast<std::uint16_t>(name - id_names.begin());
    id.logical = *logical;
    id.physical = *physical;
    id.flags = flags_of(parts[3] == "p", generation);
    tuple.push_back(id);
  }
  return tuple;
}

}  // namespace

std::vector<std::vector<Identifier>> identifier_tuples(const Definitions& defs,
                                                       const std::vector<std::string>& id_names,
                                                       Generation generation) {
  const SystemTree& system = defs.system;
  std::map<std::uint32_t, std::uint64_t> nodes;   // numbers of what stands above the processes
  std::map<std::uint32_t, std::uint64_t> groups;  // numbers of processes without a rank
  std::vector<std::vector<Identifier>> tuples;
  const auto logical = [&](std::uint16_t kind, std::uint64_t number) {
    return Identifier{kind, flags_of(false, generation), false, number, number};
  };
  for (std::size_t i = 0; i < system.location_count(); ++i) {
    const SystemNode& location = system.location(LocationId(i));
    if (const std::string* text = find_attribute(location.attributes, "id tuple")) {
      auto tuple = parse_tuple(*text, id_names, generation);
      if (!tuple.empty()) {
        tuples.push_back(std::move(tuple));
        continue;
      }
    }
    std::vector<Identifier> tuple;
    const SystemNodeId group = system.group_of(LocationId(i));
    const SystemNodeId node = group.valid() ? system.nodes[group.index()].parent : location.parent;
    if (node.valid()) tuple.push_back(logical(kNode, nodes.try_emplace(node.value, nodes.size()).first->second));
    if (group.valid()) {
      const SystemNode& process = system.nodes[group.index()];
      const std::uint64_t number = process.rank && *process.rank >= 0
                                       ? static_cast<std::uint64_t>(*process.rank)
                                       : groups.try_emplace(group.value, groups.size()).first->second;
      tuple.push_back(logical(kRank, number));
    }
    const bool gpu = to_lower(location.type).find("gpu") != std::string::npos;
    const std::uint64_t number = location.rank && *location.rank >= 0 ? static_cast<std::uint64_t>(*location.rank) : i;
    tuple.push_back(logical(gpu ? kGpuStream : kThread, number));
    tuples.push_back(std::move(tuple));
  }
  return tuples;
}

}  // namespace fathom::hpctoolkit
