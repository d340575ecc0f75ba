#include "formats/dumpi/communicators.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "formats/dumpi/communicator_player.hpp"

namespace fathom::dumpi {

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
  if (global < 0 || is_unordered(global)) return std::nullopt;
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
      out_.ranks[i].window_numbers.push_back(
          {call.number, static_cast<std::int32_t>(call.result), rank.windows_of[global]++});
      return;
    }
    case ids::kWinPost:
    case ids::kWinStart: {
      const std::optional<Ranks> group = group_of(i, call.object);
      if (!group) return;
      const auto [it, is_new] = window_groups_.try_emplace(*group, kUnknown);
      if (is_new) it->second = add(*group);
      // It holds for this call already.
      const std::uint64_t from = call.number == 0 ? 0 : call.number - 1;
      out_.ranks[i].groups.push_back({from, static_cast<std::int32_t>(call.object), it->second});
      return;
    }
    case ids::kFileOpen:
      rank.files[call.result] = global_of(i, call.object);
      out_.ranks[i].files.push_back({call.number, static_cast<std::int32_t>(call.result), rank.files[call.result]});
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
  // The file of another rank, or of another run, calls what it is no member of.
  if (std::ranges::find(members, i) == members.end()) {
    --arrived_[global];
    bind(i, kUnknown);
    go_on({i});
    return;
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

Result<void> resolve_communicators(const RankSet& set, std::vector<CommunicatorCalls> calls, Resolution& out) {
  return Player(set, std::move(calls), out).play();
}

}  // namespace fathom::dumpi
