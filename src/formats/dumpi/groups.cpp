#include "formats/dumpi/groups.hpp"

#include <unordered_set>

namespace fathom::dumpi {

namespace {

// Order is kept: of the first group, then what only the second has.
Ranks combined(std::uint16_t id, const Ranks& first, const Ranks& second) {
  const std::unordered_set<std::int32_t> in_first(first.begin(), first.end());
  const std::unordered_set<std::int32_t> in_second(second.begin(), second.end());
  Ranks made;
  if (id == ids::kGroupUnion) {
    made = first;
    for (const std::int32_t rank : second) {
      if (!in_first.contains(rank)) made.push_back(rank);
    }
    return made;
  }
  for (const std::int32_t rank : first) {
    if (in_second.contains(rank) == (id == ids::kGroupIntersection)) made.push_back(rank);
  }
  return made;
}

// Ranks of the group that a list or list of ranges names.
std::vector<std::int64_t> named(const CommunicatorCall& call, std::size_t size) {
  if (call.id == ids::kGroupIncl || call.id == ids::kGroupExcl) return call.list;
  std::vector<std::int64_t> all;
  for (std::size_t row = 0; row + 2 < call.list.size(); row += 3) {
    const std::int64_t from = call.list[row];
    const std::int64_t to = call.list[row + 1];
    const std::int64_t stride = call.list[row + 2];
    if (stride == 0) continue;
    for (std::int64_t at = from; stride > 0 ? at <= to : at >= to; at += stride) {
      if (all.size() > size) break;  // more than a group can have: damaged
      all.push_back(at);
    }
  }
  return all;
}

}  // namespace

bool makes_group(std::uint16_t id) { return id >= ids::kGroupUnion && id <= ids::kGroupRangeExcl; }

std::optional<Ranks> made_group(const CommunicatorCall& call, const std::optional<Ranks>& first,
                                const std::optional<Ranks>& second) {
  if (!first) return std::nullopt;
  if (call.id <= ids::kGroupDifference) {
    if (!second) return std::nullopt;
    return combined(call.id, *first, *second);
  }
  Ranks made;
  const auto valid = [&](std::int64_t at) { return at >= 0 && static_cast<std::size_t>(at) < first->size(); };
  const auto chosen = named(call, first->size());
  if (call.id == ids::kGroupIncl || call.id == ids::kGroupRangeIncl) {
    for (const std::int64_t at : chosen) {
      if (valid(at)) made.push_back((*first)[static_cast<std::size_t>(at)]);
    }
    return made;
  }
  std::vector<bool> out(first->size());
  for (const std::int64_t at : chosen) {
    if (valid(at)) out[static_cast<std::size_t>(at)] = true;
  }
  for (std::size_t at = 0; at < first->size(); ++at) {
    if (!out[at]) made.push_back((*first)[at]);
  }
  return made;
}

}  // namespace fathom::dumpi
