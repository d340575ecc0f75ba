#include "formats/dumpi/communicators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <unordered_map>

#include "formats/dumpi/groups.hpp"

namespace fathom::dumpi {

namespace {

constexpr std::int64_t kUnknown = -1;
constexpr std::int64_t kCommNull = 1;
constexpr std::int64_t kCommWorld = 2;
constexpr std::int64_t kCommSelf = 3;
constexpr std::int64_t kGroupEmpty = 2;

struct Rank {
  std::int32_t number = 0;
  std::vector<CommunicatorCall> calls;
  std::size_t at = 0;
  // By local id.
  std::unordered_map<std::int64_t, std::int64_t> communicators;
  std::unordered_map<std::int64_t, std::optional<Ranks>> groups;
  std::unordered_map<std::int64_t, std::int64_t> windows, files;  // their communicators
  std::int64_t waits_for = kUnknown;  // communicator whose other members must come to the same call

  [[nodiscard]] bool ended() const { return waits_for < 0 && at >= calls.size(); }
};

// Ranks that stand together before a call that all members of `parent` make.
struct Meeting {
  std::vector<std::size_t> members;
  Communicator parent;  // a copy: adding communicators moves the list
  std::int64_t global = kUnknown;
  bool all_there = false;  // nobody's file is missing or ends before
};

class Player {
 public:
  Player(const RankSet& set, std::vector<CommunicatorCalls> calls, Resolution& out)
      : set_(set), out_(out), ranks_(calls.size()) {
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      ranks_[i].number = static_cast<std::int32_t>(set.files()[i].rank);
      ranks_[i].calls = std::move(calls[i].calls);
      ranks_[i].communicators = {{kCommWorld, Resolution::kWorld}, {kCommSelf, Resolution::kSelf}};
      position_[ranks_[i].number] = i;
      ready_.push_back(i);
    }
  }
  Result<void> play();

 private:
  bool step(std::size_t i);  // true when the rank went on
  void local(std::size_t i, const CommunicatorCall& call);
  void arrive(std::size_t i, std::int64_t global);
  void gather(std::int64_t global, std::vector<std::size_t> members);
  bool release_stuck();
  void go_on(const std::vector<std::size_t>& members);

  void make(const Meeting& meeting);
  void make_created(const Meeting& meeting);
  void make_split(const Meeting& meeting);
  void make_topology(const Meeting& meeting);
  void make_cart_sub(const Meeting& meeting);
  void make_merged(const Meeting& meeting);
  bool make_inter(const Meeting& meeting);

  // The call before which a member stands.
  [[nodiscard]] const CommunicatorCall& call_of(std::size_t i) const { return ranks_[i].calls[ranks_[i].at]; }
  [[nodiscard]] const Ranks& ranks_of(std::int64_t global) const {
    return out_.communicators[static_cast<std::size_t>(global)].ranks;
  }
  [[nodiscard]] std::vector<std::size_t> members_of(std::int64_t global) const;
  [[nodiscard]] std::int64_t global_of(std::size_t i, std::int64_t local_id) const {
    const auto it = ranks_[i].communicators.find(local_id);
    return it == ranks_[i].communicators.end() ? kUnknown : it->second;
  }
  [[nodiscard]] std::optional<Ranks> group_of(std::size_t i, std::int64_t id) const;
  [[nodiscard]] std::optional<Ranks> group_behind(std::size_t i, std::int64_t global, bool remote) const;
  [[nodiscard]] Ranks told_order(const Meeting& meeting, std::size_t size) const;

  std::int64_t add(Ranks ranks, Ranks remote = {});
  void bind(std::size_t i, std::int64_t global);
  void bind_all(const Meeting& meeting, std::int64_t global) {
    for (const std::size_t i : meeting.members) bind(i, global);
  }

  const RankSet& set_;
  Resolution& out_;
  std::vector<Rank> ranks_;
  std::unordered_map<std::int32_t, std::size_t> position_;
  std::unordered_map<std::int64_t, std::vector<std::int64_t>> dimensions_;  // of cartesian communicators
  std::unordered_map<std::int64_t, std::size_t> arrived_;
  std::unordered_map<std::int64_t, std::size_t> expected_;
  std::deque<std::size_t> ready_;
  // One side of an inter-communicator that waits for the other: (leader, remote leader, tag).
  std::map<std::tuple<std::int32_t, std::int32_t, std::int64_t>, Meeting> sides_;
  std::int64_t parent_ = kUnknown;  // communicator to the processes that spawned this run
  std::uint64_t not_known_ = 0;
  std::optional<Error> error_;
};

std::int64_t Player::add(Ranks ranks, Ranks remote) {
  auto reserved =
      set_.work()->budget.reserve((ranks.size() + remote.size()) * sizeof(std::int32_t), "members of communicators");
  if (!reserved) {
    error_ = std::move(reserved).error();
    return kUnknown;
  }
  out_.reserved.push_back(*std::move(reserved));
  out_.communicators.push_back({{}, std::move(ranks), std::move(remote)});
  return static_cast<std::int64_t>(out_.communicators.size()) - 1;
}

// From this call of the member on its result means that communicator.
void Player::bind(std::size_t i, std::int64_t global) {
  const CommunicatorCall& call = call_of(i);
  if (call.result <= kCommNull) return;
  if (global < 0) ++not_known_;
  ranks_[i].communicators[call.result] = global;
  out_.ranks[i].communicators.push_back({call.number, static_cast<std::int32_t>(call.result), global});
}

std::optional<Ranks> Player::group_of(std::size_t i, std::int64_t id) const {
  if (id == kGroupEmpty) return Ranks{};
  const auto it = ranks_[i].groups.find(id);
  return it == ranks_[i].groups.end() ? std::nullopt : it->second;
}

std::optional<Ranks> Player::group_behind(std::size_t i, std::int64_t global, bool remote) const {
  if (global < 0) return std::nullopt;
  const std::int32_t self = ranks_[i].number;
  if (global == Resolution::kSelf) return Ranks{self};
  const Communicator& communicator = out_.communicators[static_cast<std::size_t>(global)];
  const bool first = communicator.remote_ranks.empty() ||
                     std::find(communicator.ranks.begin(), communicator.ranks.end(), self) != communicator.ranks.end();
  return first != remote ? communicator.ranks : communicator.remote_ranks;
}

// Calls that need no other rank.
void Player::local(std::size_t i, const CommunicatorCall& call) {
  Rank& rank = ranks_[i];
  const auto window_or_file = [&](const auto& map) {
    const auto it = map.find(call.object);
    return it == map.end() ? std::nullopt : group_behind(i, it->second, false);
  };
  switch (call.id) {
    case ids::kCommGroup:
    case ids::kCommRemoteGroup:
      rank.groups[call.result] = group_behind(i, global_of(i, call.object), call.id == ids::kCommRemoteGroup);
      return;
    case ids::kWinGetGroup:
      rank.groups[call.result] = window_or_file(rank.windows);
      return;
    case ids::kFileGetGroup:
      rank.groups[call.result] = window_or_file(rank.files);
      return;
    case ids::kWinCreate: {
      const std::int64_t global = global_of(i, call.object);
      rank.windows[call.result] = global;
      out_.ranks[i].windows.push_back({call.number, static_cast<std::int32_t>(call.result), global});
      return;
    }
    case ids::kFileOpen:
      rank.files[call.result] = global_of(i, call.object);
      return;
    case ids::kCommFree:
      // The id may come back from a call that is not traced: it must not keep its old meaning.
      if (call.object <= kCommSelf) return;
      rank.communicators.erase(call.object);
      out_.ranks[i].communicators.push_back({call.number, static_cast<std::int32_t>(call.object), kUnknown});
      return;
    case ids::kCommGetParent:
      if (call.result <= kCommNull) return;
      if (parent_ < 0) parent_ = add(ranks_of(Resolution::kWorld), {kUnknownPeer});
      bind(i, parent_);
      return;
    case ids::kCommJoin:
      bind(i, add({rank.number}, {kUnknownPeer}));
      return;
    default:
      if (makes_group(call.id)) {
        rank.groups[call.result] = made_group(call, group_of(i, call.object), group_of(i, call.a));
      }
  }
}

std::vector<std::size_t> Player::members_of(std::int64_t global) const {
  std::vector<std::size_t> members;
  const Communicator& communicator = out_.communicators[static_cast<std::size_t>(global)];
  for (const Ranks* side : {&communicator.ranks, &communicator.remote_ranks}) {
    for (const std::int32_t rank : *side) {
      if (const auto it = position_.find(rank); it != position_.end()) members.push_back(it->second);
    }
  }
  return members;
}

bool Player::step(std::size_t i) {
  Rank& rank = ranks_[i];
  if (rank.waits_for >= 0 || rank.at >= rank.calls.size()) return false;
  const CommunicatorCall& call = call_of(i);
  switch (call.id) {
    case ids::kCommDup:
    case ids::kCommCreate:
    case ids::kCommSplit:
    case ids::kIntercommCreate:
    case ids::kIntercommMerge:
    case ids::kCartCreate:
    case ids::kGraphCreate:
    case ids::kCartSub:
    case ids::kCommAccept:
    case ids::kCommConnect:
    case ids::kCommSpawn:
    case ids::kCommSpawnMultiple: {
      const std::int64_t global = global_of(i, call.object);
      if (global < 0) {
        bind(i, kUnknown);
        break;
      }
      arrive(i, global);
      return rank.waits_for < 0;
    }
    default:
      local(i, call);
  }
  ++rank.at;
  return true;
}

// The rank stands before a call that all members of the communicator make.
void Player::arrive(std::size_t i, std::int64_t global) {
  ranks_[i].waits_for = global;
  // Everybody is alone in an own MPI_COMM_SELF.
  if (global == Resolution::kSelf) {
    gather(global, {i});
    return;
  }
  auto [it, is_new] = expected_.try_emplace(global, 0);
  if (is_new) it->second = members_of(global).size();
  if (++arrived_[global] < it->second) return;
  std::vector<std::size_t> members;
  for (const std::size_t member : members_of(global)) {
    if (ranks_[member].waits_for == global) members.push_back(member);
  }
  gather(global, std::move(members));
}

void Player::gather(std::int64_t global, std::vector<std::size_t> members) {
  Meeting meeting;
  meeting.members = std::move(members);
  meeting.global = global;
  if (global == Resolution::kSelf) {
    meeting.parent.ranks = {ranks_[meeting.members.front()].number};
  } else {
    arrived_[global] = 0;
    meeting.parent = out_.communicators[static_cast<std::size_t>(global)];
  }
  meeting.all_there = meeting.members.size() == meeting.parent.ranks.size() + meeting.parent.remote_ranks.size();
  const std::uint16_t id = call_of(meeting.members.front()).id;
  if (!std::all_of(meeting.members.begin(), meeting.members.end(),
                   [&](std::size_t i) { return call_of(i).id == id; })) {
    bind_all(meeting, kUnknown);
  } else if (id == ids::kIntercommCreate) {
    if (!make_inter(meeting)) return;
  } else {
    make(meeting);
  }
  go_on(meeting.members);
}

void Player::go_on(const std::vector<std::size_t>& members) {
  for (const std::size_t i : members) {
    ranks_[i].waits_for = kUnknown;
    ++ranks_[i].at;
    ready_.push_back(i);
  }
}

void Player::make(const Meeting& meeting) {
  const CommunicatorCall& first = call_of(meeting.members.front());
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
      sides[0] = sound ? told_order(part, static_cast<std::size_t>(size)) : Ranks{};
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

// Everybody waits: for a rank whose stream has ended (its file is cut or misses calls), for a side of an
// inter-communicator that never comes, or threads made communicators at once. One group goes on as it is.
bool Player::release_stuck() {
  std::map<std::int64_t, std::vector<std::size_t>> waiting;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    if (ranks_[i].waits_for >= 0) waiting[ranks_[i].waits_for].push_back(i);
  }
  const auto is_side = [&](std::size_t i) {
    return std::ranges::any_of(sides_, [&](const auto& side) {
      return std::ranges::find(side.second.members, i) != side.second.members.end();
    });
  };
  for (auto& [global, members] : waiting) {
    const bool in_vain = std::ranges::any_of(members_of(global), [&](std::size_t i) { return ranks_[i].ended(); });
    if (!in_vain || is_side(members.front())) continue;
    gather(global, std::move(members));
    return true;
  }
  if (!sides_.empty()) {
    const Meeting side = std::move(sides_.begin()->second);
    sides_.erase(sides_.begin());
    bind_all(side, kUnknown);
    go_on(side.members);
    return true;
  }
  if (waiting.empty()) return false;
  const auto& [global, members] = *waiting.begin();
  arrived_[global] = 0;
  for (const std::size_t i : members) bind(i, kUnknown);
  go_on(members);
  return true;
}

Result<void> Player::play() {
  do {
    while (!ready_.empty()) {
      const std::size_t i = ready_.front();
      ready_.pop_front();
      while (!error_ && step(i)) {
      }
    }
  } while (!error_ && release_stuck());
  if (error_) return *std::move(error_);
  if (not_known_ == 0) return {};
  return set_.work()->diagnostics.warn(
      "dumpi.unresolved_communicators", set_.files().front().file.place(0),
      fmt::format("members are not known of {} new communicators: their making is not recorded by all of them",
                  not_known_));
}

}  // namespace

Result<void> resolve_communicators(const RankSet& set, std::vector<CommunicatorCalls> calls, Resolution& out) {
  return Player(set, std::move(calls), out).play();
}

}  // namespace fathom::dumpi
