// What the calls that make communicators make.
#include <algorithm>

#include "formats/dumpi/communicator_player.hpp"

namespace fathom::dumpi {

void Player::make(const Meeting& meeting) {
  const CommunicatorCall& first = call_of(meeting.members.front());
  if (is_unordered(meeting.global)) {
    bind_all(meeting, kUnknown);
    return;
  }
  switch (first.id) {
    case ids::kCommDup: {
      const std::int64_t made = add(meeting.parent.ranks, meeting.parent.remote_ranks);
      bind_all(meeting, made);
      if (const auto it = dimensions_.find(meeting.global); it != dimensions_.end()) {
        auto copy = it->second;
        dimensions_[made] = std::move(copy);
      }
      return;
    }
    case ids::kCommCreate:
      make_created(meeting);
      return;
    case ids::kCommSplit:
      make_split(meeting);
      return;
    case ids::kCartCreate:
    case ids::kGraphCreate:
      make_topology(meeting);
      return;
    case ids::kCartSub:
      make_cart_sub(meeting);
      return;
    case ids::kIntercommMerge:
      make_merged(meeting);
      return;
    default: {
      // Processes outside of this run. The root of a spawn lists an error code for each of them.
      std::size_t others = 1;
      for (const std::size_t i : meeting.members) others = std::max(others, static_cast<std::size_t>(call_of(i).a));
      const bool spawned = first.id == ids::kCommSpawn || first.id == ids::kCommSpawnMultiple;
      bind_all(meeting, add(meeting.parent.ranks, Ranks(spawned ? others : 1, kUnknownPeer)));
    }
  }
}

// Members of one new communicator name the same group; several disjoint ones may be made at once. Over an
// inter-communicator each side names its own group.
void Player::make_created(const Meeting& meeting) {
  if (!meeting.parent.remote_ranks.empty()) {
    std::array<std::optional<Ranks>, 2> groups;
    for (const std::size_t i : meeting.members) {
      const Ranks& side = meeting.parent.ranks;
      auto& group = groups[std::find(side.begin(), side.end(), ranks_[i].number) == side.end() ? 1 : 0];
      if (!group) group = group_of(i, call_of(i).a);
    }
    const bool known = groups[0] && groups[1] && !groups[0]->empty() && !groups[1]->empty();
    bind_all(meeting, known ? add(*groups[0], *groups[1]) : kUnknown);
    return;
  }
  std::map<Ranks, std::int64_t> made;
  for (const std::size_t i : meeting.members) {
    const CommunicatorCall& call = call_of(i);
    if (call.result <= kCommNull) continue;
    const auto group = group_of(i, call.a);
    if (!group) {
      bind(i, kUnknown);
      continue;
    }
    auto [at, is_new] = made.try_emplace(*group, kUnknown);
    if (is_new) at->second = add(*group);
    bind(i, at->second);
  }
}

// Members of one colour, ordered by key and then by their rank in the parent.
void Player::make_split(const Meeting& meeting) {
  struct Entry {
    std::int64_t colour;
    bool remote;
    std::int64_t key;
    std::size_t place;
    std::size_t member;
    auto operator<=>(const Entry&) const = default;
  };
  std::unordered_map<std::int32_t, std::pair<bool, std::size_t>> place;
  for (std::size_t n = 0; n < meeting.parent.ranks.size(); ++n) place[meeting.parent.ranks[n]] = {false, n};
  for (std::size_t n = 0; n < meeting.parent.remote_ranks.size(); ++n) {
    place[meeting.parent.remote_ranks[n]] = {true, n};
  }
  std::vector<Entry> order;
  for (const std::size_t i : meeting.members) {
    const CommunicatorCall& call = call_of(i);
    if (call.result <= kCommNull) continue;  // no colour, or no partner on the other side
    const auto [remote, at] = place[ranks_[i].number];
    order.push_back({call.a, remote, call.b, at, i});
  }
  std::sort(order.begin(), order.end());
  const bool inter = !meeting.parent.remote_ranks.empty();
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    std::array<Ranks, 2> sides;
    Meeting part;
    for (; end < order.size() && order[end].colour == order[begin].colour; ++end) {
      sides[order[end].remote ? 1 : 0].push_back(ranks_[order[end].member].number);
      part.members.push_back(order[end].member);
    }
    begin = end;
    if (!meeting.all_there) {
      // Those who are not there may have the same colour; then only what the program was told helps.
      const std::int64_t size = call_of(part.members.front()).told_size;
      const bool sound = !inter && size >= 1 && static_cast<std::size_t>(size) <= meeting.parent.ranks.size();
      const Ranks present = std::move(sides[0]);
      sides[0] = sound ? told_order(part, static_cast<std::size_t>(size)) : Ranks{};
      // Who is a member is known all the same, though not as which rank: enough for what all make together.
      if (sides[0].empty() && !inter) {
        const std::int64_t made = add(present);
        if (made >= 0) out_.unordered.push_back(made);
        ++not_known_;
        bind_all(part, made);
        continue;
      }
    }
    const bool known = !sides[0].empty() && sides[1].empty() != inter;
    bind_all(part, known ? add(std::move(sides[0]), std::move(sides[1])) : kUnknown);
  }
}

// Ranks as the program was told them; places of members that are not there stay unknown. Empty = it did not ask.
Ranks Player::told_order(const Meeting& meeting, std::size_t size) const {
  Ranks told(size, kUnknownPeer);
  for (const std::size_t i : meeting.members) {
    const CommunicatorCall& call = call_of(i);
    if (call.result <= kCommNull) continue;
    if (call.told_rank < 0 || static_cast<std::size_t>(call.told_rank) >= size) return {};
    told[static_cast<std::size_t>(call.told_rank)] = ranks_[i].number;
  }
  return told;
}

void Player::make_topology(const Meeting& meeting) {
  const CommunicatorCall& first = call_of(meeting.members.front());
  const bool cartesian = first.id == ids::kCartCreate;
  Ranks ranks = meeting.parent.ranks;
  std::uint64_t count = cartesian || first.b < 0 ? 1 : static_cast<std::uint64_t>(first.b);
  if (cartesian) {
    for (const std::int64_t width : first.list) {
      count = width <= 0 || count > ranks.size() ? 0 : count * static_cast<std::uint64_t>(width);
    }
  }
  if (count < ranks.size()) ranks.resize(count);
  // Where the library was allowed to renumber, what the program was told counts.
  if (first.a != 0) {
    Ranks told = told_order(meeting, ranks.size());
    if (!told.empty() && std::find(told.begin(), told.end(), kUnknownPeer) == told.end()) ranks = std::move(told);
  }
  const std::int64_t made = add(std::move(ranks));
  if (cartesian) dimensions_[made] = first.list;
  bind_all(meeting, made);
}

// Ranks that share the coordinates of all dropped dimensions stay together, in their old order.
void Player::make_cart_sub(const Meeting& meeting) {
  const CommunicatorCall& first = call_of(meeting.members.front());
  const auto it = dimensions_.find(meeting.global);
  if (it == dimensions_.end() || it->second.size() != first.list.size()) {
    bind_all(meeting, kUnknown);
    return;
  }
  const std::vector<std::int64_t> widths = it->second;
  std::vector<std::int64_t> kept;
  for (std::size_t d = 0; d < widths.size(); ++d) {
    if (first.list[d] != 0) kept.push_back(widths[d]);
  }
  std::map<std::vector<std::int64_t>, Ranks> parts;
  std::unordered_map<std::int32_t, std::vector<std::int64_t>> key_of;
  for (std::size_t n = 0; n < meeting.parent.ranks.size(); ++n) {
    auto rest = static_cast<std::int64_t>(n);
    std::vector<std::int64_t> key;
    for (std::size_t d = widths.size(); d-- > 0;) {
      if (widths[d] <= 0) continue;
      if (first.list[d] == 0) key.push_back(rest % widths[d]);
      rest /= widths[d];
    }
    parts[key].push_back(meeting.parent.ranks[n]);
    key_of[meeting.parent.ranks[n]] = std::move(key);
  }
  std::map<std::vector<std::int64_t>, std::int64_t> made;
  for (auto& [key, ranks] : parts) {
    const std::int64_t global = add(std::move(ranks));
    made[key] = global;
    dimensions_[global] = kept;
  }
  for (const std::size_t i : meeting.members) bind(i, made[key_of[ranks_[i].number]]);
}

// The side that says "low" comes first; where both say the same the library chooses.
void Player::make_merged(const Meeting& meeting) {
  const auto high = [&](const Ranks& side) -> std::optional<bool> {
    for (const std::int32_t rank : side) {
      const auto it = position_.find(rank);
      const bool here = it != position_.end() &&
                        std::find(meeting.members.begin(), meeting.members.end(), it->second) != meeting.members.end();
      if (here) return call_of(it->second).a != 0;
    }
    return std::nullopt;
  };
  std::array<Ranks, 2> orders = {meeting.parent.ranks, meeting.parent.remote_ranks};
  orders[0].insert(orders[0].end(), meeting.parent.remote_ranks.begin(), meeting.parent.remote_ranks.end());
  orders[1].insert(orders[1].end(), meeting.parent.ranks.begin(), meeting.parent.ranks.end());
  const auto first_high = high(meeting.parent.ranks);
  const auto second_high = high(meeting.parent.remote_ranks);
  const auto fits = [&](const Ranks& order) {
    return std::all_of(meeting.members.begin(), meeting.members.end(), [&](std::size_t i) {
      const std::int64_t told = call_of(i).told_rank;
      return told < 0 || (static_cast<std::size_t>(told) < order.size() &&
                          order[static_cast<std::size_t>(told)] == ranks_[i].number);
    });
  };
  std::size_t chosen = first_high.value_or(!second_high.value_or(true)) ? 1 : 0;
  const bool open = first_high && second_high ? *first_high == *second_high : true;
  if (open && !fits(orders[chosen])) chosen = 1 - chosen;
  bind_all(meeting, fits(orders[chosen]) ? add(std::move(orders[chosen])) : kUnknown);
}

// One side of an inter-communicator is together; false = it waits for the other one.
bool Player::make_inter(const Meeting& meeting) {
  const Ranks& local = meeting.parent.ranks;
  const std::int64_t place = call_of(meeting.members.front()).a;
  const auto leader = place >= 0 && static_cast<std::size_t>(place) < local.size()
                          ? position_.find(local[static_cast<std::size_t>(place)])
                          : position_.end();
  const bool led = leader != position_.end() &&
                   std::find(meeting.members.begin(), meeting.members.end(), leader->second) != meeting.members.end();
  // Only the leader knows the way to the other side.
  const auto bridge = led ? group_behind(leader->second, global_of(leader->second, call_of(leader->second).b), false)
                          : std::optional<Ranks>{};
  const std::int64_t remote = led ? call_of(leader->second).c : -1;
  if (!bridge || remote < 0 || static_cast<std::size_t>(remote) >= bridge->size()) {
    bind_all(meeting, kUnknown);
    return true;
  }
  const std::int32_t other_leader = (*bridge)[static_cast<std::size_t>(remote)];
  const std::int64_t tag = call_of(leader->second).list[0];
  const auto other = sides_.find({other_leader, leader->first, tag});
  if (other == sides_.end()) {
    sides_[{leader->first, other_leader, tag}] = meeting;
    return false;
  }
  const Meeting side = std::move(other->second);
  sides_.erase(other);
  const std::int64_t made = add(side.parent.ranks, local);
  bind_all(side, made);
  go_on(side.members);
  bind_all(meeting, made);
  return true;
}

}  // namespace fathom::dumpi
