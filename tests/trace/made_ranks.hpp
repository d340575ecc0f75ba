// A trace of ranks that is made call by call.
#pragma once

#include "trace/made_trace.hpp"

namespace fathom::test {

inline constexpr std::int64_t kSecond = 1'000'000'000;

// Ranks with one location each, in one communicator.
class MadeRanks : public MadeTrace {
 public:
  explicit MadeRanks(std::size_t ranks) : MadeTrace(ranks) {
    definitions_.system = {};
    Communicator world;
    for (std::size_t r = 0; r < ranks; ++r) {
      SystemNode process;
      process.kind = SystemKind::group;
      process.rank = static_cast<std::int64_t>(r);
      SystemNode location;
      location.parent = definitions_.system.add(process);
      location.label = std::to_string(r);
      definitions_.system.add_location(location);
      world.ranks.push_back(static_cast<std::int32_t>(r));
    }
    communicators_.push_back(world);
  }

  // A group of ranks, as posts and starts of windows name them.
  std::uint64_t group(std::vector<std::int32_t> ranks) {
    Communicator made;
    made.ranks = std::move(ranks);
    communicators_.push_back(made);
    return communicators_.size() - 1;
  }

  void call(std::size_t rank, std::uint32_t region, std::int64_t from, std::int64_t to, bool collective = false) {
    add(EventKind::enter, from * kSecond, region, rank);
    if (collective) add(EventKind::collective, to * kSecond, region, rank).communicator = CommunicatorId(0);
    add(EventKind::leave, to * kSecond, region, rank);
  }
};

}  // namespace fathom::test
