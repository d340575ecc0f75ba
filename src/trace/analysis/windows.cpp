// One-sided communication: whom the calls that synchronise windows wait for.
#include <algorithm>
#include <map>
#include <tuple>

#include "trace/analysis/calls.hpp"

namespace fathom::analysis {

namespace {

using Window = std::pair<std::uint32_t, std::int64_t>;  // communicator, number
// Of ranks that meet on a window, in the order in which they do.
struct Meetings {
  std::vector<CallPlace> posts;      // by the target
  std::vector<CallPlace> completes;  // by the origin
};
using Pair = std::tuple<Window, std::int32_t, std::int32_t>;  // origin and target

// A rank holds a window of another one.
struct Held {
  CallPlace lock;
  CallPlace unlock;
  bool exclusive = true;
};

class Search {
 public:
  explicit Search(RunCalls& run) : run_(run) {}

  void search() {
    for (std::uint32_t l = 0; l < run_.locations.size(); ++l) read(l);
    for (const auto& [place, pair, number] : for_post_) {
      const auto& list = meetings_[pair].posts;
      if (number < list.size()) add(place, list[number], WindowNeed::Kind::post);
    }
    for (const auto& [place, pair, number] : for_complete_) {
      const auto& list = meetings_[pair].completes;
      if (number < list.size()) add(place, list[number], WindowNeed::Kind::complete);
    }
    for (auto& [target, list] : held_) find_contention(list);
    for (LocationCalls& here : run_.locations) {
      std::stable_sort(here.window_needs.begin(), here.window_needs.end(),
                       [](const WindowNeed& a, const WindowNeed& b) { return a.call < b.call; });
    }
  }

 private:
  struct Wanted {
    CallPlace place;
    Pair pair;
    std::size_t number;
  };
  struct Epoch {
    std::vector<std::pair<Pair, std::size_t>> partners;
  };

  void add(CallPlace place, CallPlace partner, WindowNeed::Kind kind) {
    run_.locations[place.location].window_needs.push_back({place.call, partner, kind});
  }

  void read(std::uint32_t location) {
    const LocationCalls& here = run_.locations[location];
    std::map<Window, Epoch> exposed;   // by post
    std::map<Window, Epoch> accessed;  // by start
    std::map<std::pair<Window, std::int32_t>, Held> open;
    for (const WindowCall& at : here.window_calls) {
      const CallPlace place{location, at.call};
      const Window window{at.communicator, at.window};
      switch (here.calls[at.call].kind) {
        case CallKind::window_post: {
          Epoch epoch;
          for (const std::int32_t origin : members(at)) {
            const Pair pair{window, origin, here.rank};
            epoch.partners.emplace_back(pair, meetings_[pair].posts.size());
            meetings_[pair].posts.push_back(place);
          }
          exposed[window] = std::move(epoch);
          break;
        }
        case CallKind::window_wait:
          for (const auto& [pair, number] : exposed[window].partners) for_complete_.push_back({place, pair, number});
          exposed.erase(window);
          break;
        case CallKind::window_start: {
          Epoch epoch;
          for (const std::int32_t target : members(at)) {
            const Pair pair{window, here.rank, target};
            epoch.partners.emplace_back(pair, started_[pair]++);
            for_post_.push_back({place, pair, epoch.partners.back().second});
          }
          accessed[window] = std::move(epoch);
          break;
        }
        case CallKind::window_complete:
          for (const auto& [pair, number] : accessed[window].partners) {
            for_post_.push_back({place, pair, number});
            // Begun and not completed ones leave a gap.
            auto& list = meetings_[pair].completes;
            if (list.size() < number) list.resize(number);
            list.push_back(place);
          }
          accessed.erase(window);
          break;
        case CallKind::window_lock:
          open[{window, at.target}] = {place, {}, at.exclusive};
          break;
        case CallKind::window_unlock: {
          const auto found = open.find({window, at.target});
          if (found == open.end()) break;
          found->second.unlock = place;
          if (run_.counts(here.calls[at.call])) held_[{window, at.target}].push_back(found->second);
          open.erase(found);
          break;
        }
        default:
          break;
      }
    }
  }

  [[nodiscard]] std::span<const std::int32_t> members(const WindowCall& at) const {
    const auto communicators = run_.trace->communicators();
    if (at.group >= communicators.size()) return {};
    return communicators[at.group].ranks;
  }

  // A call in which somebody else gave a lock back that kept this one out waited for that.
  void find_contention(std::vector<Held>& list) {
    const auto given_back = [&](const Held& held) { return run_.at(held.unlock).exit; };
    std::stable_sort(list.begin(), list.end(),
                     [&](const Held& a, const Held& b) { return given_back(a) < given_back(b); });
    const bool any = std::any_of(list.begin(), list.end(), [](const Held& held) { return held.exclusive; });
    if (!any) return;
    for (const Held& held : list) {
      for (const CallPlace place : {held.lock, held.unlock}) {
        const Call& call = run_.at(place);
        auto at = std::lower_bound(list.begin(), list.end(), call.exit,
                                   [&](const Held& one, std::int64_t time) { return given_back(one) < time; });
        constexpr int kMostLooked = 4096;
        for (int looked = 0; at != list.begin() && looked < kMostLooked; ++looked) {
          --at;
          if (given_back(*at) <= call.entry) break;
          if (at->unlock.location == place.location || (!held.exclusive && !at->exclusive)) continue;
          add(place, at->unlock, WindowNeed::Kind::unlock);
          break;
        }
      }
    }
  }

  RunCalls& run_;
  std::map<Pair, Meetings> meetings_;
  std::map<Pair, std::size_t> started_;
  std::vector<Wanted> for_post_;
  std::vector<Wanted> for_complete_;
  std::map<std::pair<Window, std::int32_t>, std::vector<Held>> held_;  // by window and target
};

}  // namespace

void find_window_needs(RunCalls& run) {
  const bool any = std::any_of(run.locations.begin(), run.locations.end(),
                               [](const LocationCalls& here) { return !here.window_calls.empty(); });
  if (any) Search(run).search();
}

}  // namespace fathom::analysis
