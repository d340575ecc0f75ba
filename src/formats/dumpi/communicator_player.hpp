// How communicators come about, worked out from the calls that make them.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <unordered_map>

#include "formats/dumpi/communicators.hpp"
#include "formats/dumpi/groups.hpp"

namespace fathom::dumpi {

inline constexpr std::int64_t kUnknown = -1;
inline constexpr std::int64_t kCommNull = 1;
inline constexpr std::int64_t kCommWorld = 2;
inline constexpr std::int64_t kCommSelf = 3;
inline constexpr std::int64_t kGroupEmpty = 2;

struct Rank {
  std::int32_t number = 0;
  std::vector<CommunicatorCall> calls;
  std::size_t at = 0;
  // By local id.
  std::unordered_map<std::int64_t, std::int64_t> communicators;
  std::unordered_map<std::int64_t, std::optional<Ranks>> groups;
  std::unordered_map<std::int64_t, std::int64_t> windows, files;  // their communicators
  std::unordered_map<std::int64_t, std::int64_t> windows_of;      // how many a communicator has had
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

// Plays the calls of all ranks against each other: each goes on alone until it stands before a call that all members of
// a communicator make; when they are together, the call is made.
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

  [[nodiscard]] bool is_unordered(std::int64_t global) const {
    return std::binary_search(out_.unordered.begin(), out_.unordered.end(), global);
  }
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
  std::map<Ranks, std::int64_t> window_groups_;                             // groups that windows are used with
  std::unordered_map<std::int64_t, std::size_t> arrived_;
  std::unordered_map<std::int64_t, std::size_t> expected_;
  std::deque<std::size_t> ready_;
  // One side of an inter-communicator that waits for the other: (leader, remote leader, tag).
  std::map<std::tuple<std::int32_t, std::int32_t, std::int64_t>, Meeting> sides_;
  std::int64_t parent_ = kUnknown;  // communicator to the processes that spawned this run
  std::uint64_t not_known_ = 0;
  std::optional<Error> error_;
};

}  // namespace fathom::dumpi
