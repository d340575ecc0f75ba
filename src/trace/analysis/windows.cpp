// One-sided communication: whom the calls that synchronise windows wait for.
#include <algorithm>
#include <map>
#include <tuple>

#include "trace/analysis/calls.hpp"
#include "trace/analysis/team_lists.hpp"

namespace fathom::analysis {

namespace {

using Window = std::pair<std::uint32_t, std::int64_t>;  // communicator, number

// A call on a window, with what the search asks of it: its location may be kept by another process of the team.
struct Seen {
  CallPlace place;
  WindowCall at;
  std::int64_t entry = 0;
  std::int64_t exit = 0;
  CallKind kind = CallKind::other;
  bool counts = false;

  [[nodiscard]] Window window() const { return {at.communicator, at.window}; }
};
using SeenNumber = std::uint32_t;

// Of ranks that meet on a window, in the order in which they do.
struct Meetings {
  std::vector<SeenNumber> posts;      // by the target
  std::vector<SeenNumber> completes;  // by the origin; kNone = begun and not completed
};
using Pair = std::tuple<Window, std::int32_t, std::int32_t>;  // origin and target

// A rank holds a window of another one.
struct Held {
  SeenNumber lock = kNone;
  SeenNumber unlock = kNone;
  bool exclusive = true;
};

struct Need {
  std::uint32_t location = 0;
  WindowNeed need;
};

// All calls on some windows; windows need each other not.
class Search {
 public:
  Search(const RunCalls& run, const std::vector<Seen>& calls) : run_(run), calls_(calls) {}

  std::vector<Need> search() {
    for (SeenNumber begin = 0; begin < calls_.size();) {
      SeenNumber end = begin;
      while (end < calls_.size() && calls_[end].place.location == calls_[begin].place.location) ++end;
      read(begin, end);
      begin = end;
    }
    for (const auto& [from, pair, number] : for_post_) {
      const auto& list = meetings_[pair].posts;
      if (number < list.size()) add(from, list[number], WindowNeed::Kind::post);
    }
    for (const auto& [from, pair, number] : for_complete_) {
      const auto& list = meetings_[pair].completes;
      if (number < list.size() && list[number] != kNone) add(from, list[number], WindowNeed::Kind::complete);
    }
    for (auto& [target, list] : held_) find_contention(list);
    return std::move(needs_);
  }

 private:
  struct Wanted {
    SeenNumber from;
    Pair pair;
    std::size_t number;
  };
  struct Epoch {
    std::vector<std::pair<Pair, std::size_t>> partners;
  };

  void add(SeenNumber from, SeenNumber partner, WindowNeed::Kind kind) {
    const Seen& other = calls_[partner];
    const std::int64_t time = kind == WindowNeed::Kind::unlock ? other.exit : other.entry;
    needs_.push_back({calls_[from].place.location, {calls_[from].place.call, other.place, time, kind}});
  }

  // The calls of a location.
  void read(SeenNumber begin, SeenNumber end) {
    const std::int32_t rank = run_.locations[calls_[begin].place.location].rank;
    std::map<Window, Epoch> exposed;   // by post
    std::map<Window, Epoch> accessed;  // by start
    std::map<std::pair<Window, std::int32_t>, Held> open;
    for (SeenNumber i = begin; i < end; ++i) {
      const WindowCall& at = calls_[i].at;
      const Window window = calls_[i].window();
      switch (calls_[i].kind) {
        case CallKind::window_post: {
          Epoch epoch;
          for (const std::int32_t origin : members(at)) {
            const Pair pair{window, origin, rank};
            epoch.partners.emplace_back(pair, meetings_[pair].posts.size());
            meetings_[pair].posts.push_back(i);
          }
          exposed[window] = std::move(epoch);
          break;
        }
        case CallKind::window_wait:
          for (const auto& [pair, number] : exposed[window].partners) for_complete_.push_back({i, pair, number});
          exposed.erase(window);
          break;
        case CallKind::window_start: {
          Epoch epoch;
          for (const std::int32_t target : members(at)) {
            const Pair pair{window, rank, target};
            epoch.partners.emplace_back(pair, started_[pair]++);
            for_post_.push_back({i, pair, epoch.partners.back().second});
          }
          accessed[window] = std::move(epoch);
          break;
        }
        case CallKind::window_complete:
          for (const auto& [pair, number] : accessed[window].partners) {
            for_post_.push_back({i, pair, number});
            // Begun and not completed ones leave a gap.
            auto& list = meetings_[pair].completes;
            if (list.size() < number) list.resize(number, kNone);
            list.push_back(i);
          }
          accessed.erase(window);
          break;
        case CallKind::window_lock:
          open[{window, at.target}] = {i, kNone, at.exclusive};
          break;
        case CallKind::window_unlock: {
          const auto found = open.find({window, at.target});
          if (found == open.end()) break;
          found->second.unlock = i;
          if (calls_[i].counts) held_[{window, at.target}].push_back(found->second);
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
    const auto given_back = [&](const Held& held) { return calls_[held.unlock].exit; };
    std::stable_sort(list.begin(), list.end(),
                     [&](const Held& a, const Held& b) { return given_back(a) < given_back(b); });
    const bool any = std::any_of(list.begin(), list.end(), [](const Held& held) { return held.exclusive; });
    if (!any) return;
    for (const Held& held : list) {
      for (const SeenNumber number : {held.lock, held.unlock}) {
        const Seen& call = calls_[number];
        auto at = std::lower_bound(list.begin(), list.end(), call.exit,
                                   [&](const Held& one, std::int64_t time) { return given_back(one) < time; });
        constexpr int kMostLooked = 4096;
        for (int looked = 0; at != list.begin() && looked < kMostLooked; ++looked) {
          --at;
          if (given_back(*at) <= call.entry) break;
          const bool own = calls_[at->unlock].place.location == call.place.location;
          if (own || (!held.exclusive && !at->exclusive)) continue;
          add(number, at->unlock, WindowNeed::Kind::unlock);
          break;
        }
      }
    }
  }

  const RunCalls& run_;
  const std::vector<Seen>& calls_;  // by location and call
  std::map<Pair, Meetings> meetings_;
  std::map<Pair, std::size_t> started_;
  std::vector<Wanted> for_post_;
  std::vector<Wanted> for_complete_;
  std::map<std::pair<Window, std::int32_t>, std::vector<Held>> held_;  // by window and target
  std::vector<Need> needs_;
};

std::vector<Seen> calls_here(const RunCalls& run) {
  std::vector<Seen> calls;
  for (std::uint32_t l = 0; l < run.locations.size(); ++l) {
    for (const WindowCall& at : run.locations[l].window_calls) {
      const Call& call = run.locations[l].calls[at.call];
      calls.push_back({{l, at.call}, at, call.entry, call.exit, call.kind, run.counts(call)});
    }
  }
  return calls;
}

// Every window is one process's, which gets all calls on it and tells what they wait for.
Result<std::vector<Need>> search_together(const RunCalls& run, const std::vector<Seen>& own) {
  Lists<Seen> to(team().size());
  for (const Seen& seen : own) {
    const auto [communicator, number] = seen.window();
    to[(communicator + static_cast<std::uint64_t>(number)) % team().size()].push_back(seen);
  }
  FATHOM_TRY(const auto arrived, exchange_lists(std::move(to)));
  std::vector<Seen> calls;
  for (const auto& list : arrived) calls.insert(calls.end(), list.begin(), list.end());
  std::sort(calls.begin(), calls.end(), [](const Seen& a, const Seen& b) {
    return std::tie(a.place.location, a.place.call) < std::tie(b.place.location, b.place.call);
  });
  Lists<Need> needs(team().size());
  for (const Need& need : Search(run, calls).search()) {
    needs[run.owners[run.locations[need.location].process]].push_back(need);
  }
  FATHOM_TRY(const auto told, exchange_lists(std::move(needs)));
  std::vector<Need> all;
  for (const auto& list : told) all.insert(all.end(), list.begin(), list.end());
  return all;
}

}  // namespace

Result<void> find_window_needs(RunCalls& run) {
  const std::vector<Seen> calls = calls_here(run);
  std::vector<Need> needs;
  if (run.apart()) {
    FATHOM_TRY(const auto all, team().sum({static_cast<std::int64_t>(calls.size())}));
    if (all[0] > 0) {
      FATHOM_TRY(needs, search_together(run, calls));
    }
  } else {
    needs = Search(run, calls).search();
  }
  for (const Need& need : needs) run.locations[need.location].window_needs.push_back(need.need);
  for (LocationCalls& here : run.locations) {
    std::stable_sort(here.window_needs.begin(), here.window_needs.end(),
                     [](const WindowNeed& a, const WindowNeed& b) { return a.call < b.call; });
  }
  return {};
}

}  // namespace fathom::analysis
