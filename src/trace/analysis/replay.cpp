#include "trace/analysis/replay.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/cancel.hpp"

namespace fathom::analysis {

namespace {

// When the calls of one location are entered. Times never go back: the lower half of each is kept, and where the upper
// one changes.
class Entries {
 public:
  Entries(ArrayPool& pool, std::size_t calls) : lower_(pool) { lower_.reserve(calls); }

  void add(std::int64_t time) {
    const std::int64_t upper = time >> 32;
    if (uppers_.empty() || uppers_.back().upper != upper) uppers_.push_back({lower_.size(), upper});
    lower_.push_back(static_cast<std::uint32_t>(time));
  }
  [[nodiscard]] std::size_t size() const { return lower_.size(); }
  [[nodiscard]] std::int64_t operator[](std::uint32_t call) const {
    const auto* upper = &uppers_.back();
    if (call < upper->from) {
      upper = &*std::prev(std::upper_bound(uppers_.begin(), uppers_.end(), call,
                                           [](std::size_t wanted, const Upper& at) { return wanted < at.from; }));
    }
    return upper->upper << 32 | lower_[call];
  }

 private:
  struct Upper {
    std::size_t from;  // call
    std::int64_t upper;
  };
  LargeArray<std::uint32_t> lower_;
  std::vector<Upper> uppers_;
};

class Player {
 public:
  Player(const RunCalls& run, const RunWaits& waits, const std::vector<GroupInstances>& instances,
         const ReplayModel& model, ReplayResult& out)
      : run_(run), waits_(waits), instances_(instances), model_(model), out_(out), states_(run.locations.size()) {
    arrivals_.resize(run.groups.size());
    waiting_.resize(run.groups.size());
    for (std::size_t g = 0; g < run.groups.size(); ++g) arrivals_[g].resize(run.groups[g].instances);
    out.useful.assign(run.locations.size(), 0);
    for (const LocationCalls& here : run.locations) entries_.emplace_back(*run.pool, here.calls.size());
  }

  // False when calls wait for each other in a circle.
  Result<bool> play() {
    for (std::uint32_t l = static_cast<std::uint32_t>(states_.size()); l-- > 0;) ready_.push_back(l);
    std::uint64_t steps = 0;
    while (!ready_.empty()) {
      if (++steps % 65536 == 0 && cancelled()) return cancelled_error();
      const std::uint32_t location = ready_.back();
      ready_.pop_back();
      go_on(location);
    }
    FATHOM_CHECK(run_.pool->status());
    for (std::size_t l = 0; l < states_.size(); ++l) {
      if (states_[l].call < run_.locations[l].calls.size()) return false;
      // What a location still does behind its last call counts as computation, here as elsewhere.
      if (!run_.locations[l].calls.empty()) {
        const auto rest = static_cast<double>(run_.t1 - run_.locations[l].calls.back().exit);
        out_.useful[l] += rest;
        states_[l].time += rest;
      }
      out_.runtime = std::max<std::int64_t>(out_.runtime, std::llround(states_[l].time));
    }
    return true;
  }

 private:
  struct State {
    double time = 0;          // end of the call before; of one that has been entered: when it was
    double until = 0;         // when all that it waits for has happened, as far as it was looked at
    std::uint32_t call = 0;   // the next one
    bool entered = false;     // it has been
    std::size_t receive = 0;  // behind those that were looked at
    std::size_t done = 0;
    std::size_t part = 0;
    std::size_t need = 0;
    std::vector<CallPlace> waiting;  // locations that wait for a call of this one to be entered: (location, call)
  };
  struct Arrival {
    double latest = 0;
    std::uint32_t count = 0;
    std::uint32_t scanned = 0;  // of a scan: members from the first on that are in `latest`
  };

  [[nodiscard]] bool entered(CallPlace place) const { return place.call < entries_[place.location].size(); }
  // std::llround() of times, which are not negative, without the call of a function.
  static std::int64_t rounded(double time) {
    const auto whole = static_cast<std::int64_t>(time);
    return whole + (time - static_cast<double>(whole) >= 0.5 ? 1 : 0);
  }
  [[nodiscard]] double entry(CallPlace place) const {
    return static_cast<double>(entries_[place.location][place.call]);
  }
  bool wait_for(std::uint32_t location, CallPlace place) {
    if (entered(place)) return false;
    states_[place.location].waiting.push_back({location, place.call});
    return true;
  }
  void wake(std::uint32_t location) { ready_.push_back(location); }

  // Locations take turns, so that what one of them goes on with lies far from what was read last.
  static constexpr std::size_t kAhead = 4;

  // False = there is no room for it, as the pool knows.
  bool enter(std::uint32_t location, State& state) {
    const auto& calls = run_.locations[location].calls;
    __builtin_prefetch(&calls[state.call] + 4 * kAhead);
    const std::int64_t before = state.call == 0 ? run_.t0 : calls[state.call - 1].exit;
    double gap = static_cast<double>(std::max<std::int64_t>(0, calls[state.call].entry - before));
    if (!model_.compute_scale.empty() && state.call > 0) gap *= model_.compute_scale[location];
    if (state.call > 0) out_.useful[location] += gap;
    state.time += gap;
    entries_[location].add(rounded(state.time));
    if (!state.waiting.empty()) wake_waiting(state);
    return entries_[location].size() > state.call;
  }
  void wake_waiting(State& state) {
    std::erase_if(state.waiting, [&](CallPlace waiter) {
      if (waiter.call > state.call) return false;
      wake(waiter.location);
      return true;
    });
  }
  void leave(std::uint32_t location, State& state) {
    state.time += own_time(location, state.call);
    ++state.call;
  }

  // A call that may wait for something begins.
  void arrive(std::uint32_t location, State& state) {
    state.entered = true;
    state.until = state.time;
    const auto& parts = run_.locations[location].parts;
    if (state.part == parts.size() || parts[state.part].call != state.call) return;
    const Part& part = parts[state.part];
    Arrival& arrival = arrivals_[part.group][part.instance];
    if (instances_[part.group].instances[part.instance].kind != CallKind::scan) {
      arrival.latest = std::max(arrival.latest, state.time);
    }
    ++arrival.count;
    if (!complete(part)) return;
    auto& waiting = waiting_[part.group];
    for (const std::uint32_t waiter : waiting) wake(waiter);
    waiting.clear();
  }
  [[nodiscard]] bool complete(const Part& part) const {
    return arrivals_[part.group][part.instance].count >= run_.groups[part.group].calls.size();
  }

  // The first call from the next one on that may wait for something, or the end.
  [[nodiscard]] static std::uint32_t next_stop(const LocationCalls& here, const State& state) {
    auto stop = static_cast<std::uint32_t>(here.calls.size());
    if (state.receive < here.receives.size()) stop = std::min(stop, here.receives[state.receive].call);
    if (state.done < here.sends_done.size()) stop = std::min(stop, here.sends_done[state.done].call);
    if (state.part < here.parts.size()) stop = std::min(stop, here.parts[state.part].call);
    if (state.need < here.window_needs.size()) stop = std::min(stop, here.window_needs[state.need].call);
    return stop;
  }

  void go_on(std::uint32_t location) {
    State& state = states_[location];
    const LocationCalls& here = run_.locations[location];
    while (state.call < here.calls.size()) {
      if (!state.entered) {
        for (const std::uint32_t stop = next_stop(here, state); state.call < stop; leave(location, state)) {
          if (!enter(location, state)) return;
        }
        if (state.call == here.calls.size() || !enter(location, state)) return;
        arrive(location, state);
      }
      if (is_held_up(location, state, here)) return;
      state.time = state.until;
      while (state.part < here.parts.size() && here.parts[state.part].call == state.call) ++state.part;
      state.entered = false;
      leave(location, state);
    }
  }

  // What the call takes when nothing holds it up.
  [[nodiscard]] double own_time(std::uint32_t location, std::uint32_t number) const {
    const Call& call = run_.locations[location].calls[number];
    if (model_.network != ReplayModel::Network::recorded && !is_io(call.kind)) return 0;
    const auto& list = waits_.locations[location].waits;
    const bool waited = call.first_wait < list.size() && list[call.first_wait].call == number;
    return static_cast<double>(call.exit - call.entry - (waited ? list[call.first_wait].length : 0));
  }

  [[nodiscard]] double transfer(std::int64_t bytes) const {
    if (model_.network != ReplayModel::Network::given) return 0;
    const double by_size = model_.bytes_per_ns > 0 ? static_cast<double>(bytes) / model_.bytes_per_ns : 0;
    return model_.latency_ns + by_size;
  }

  // True when something that it waits for has not happened yet: then it is looked at again from there on.
  bool is_held_up(std::uint32_t location, State& state, const LocationCalls& here) {
    const Call& call = here.calls[state.call];
    const bool waits = call.kind != CallKind::test;
    double& until = state.until;
    for (; state.receive < here.receives.size() && here.receives[state.receive].call == state.call; ++state.receive) {
      const Receive& half = here.receives[state.receive];
      __builtin_prefetch(&half + kAhead);
      if (!half.matched() || !waits) continue;
      const CallPlace issued{half.sender, half.issuing};
      if (wait_for(location, issued)) return true;
      until = std::max(until, entry(issued) + transfer(half.sent_bytes));
    }
    for (; state.done < here.sends_done.size() && here.sends_done[state.done].call == state.call; ++state.done) {
      const SendDone& done = here.sends_done[state.done];
      if (state.done + kAhead < here.sends_done.size()) {
        const SendDone& later = (&done)[kAhead];
        __builtin_prefetch(&run_.locations[later.location].sends[later.send]);
      }
      const Send& send = run_.locations[done.location].sends[done.send];
      if (!waits || !send.matched() || !run_.synchronises(send)) continue;
      const CallPlace posted = run_.posting_call(send);
      if (posted.call == kNone) continue;
      if (wait_for(location, posted)) return true;
      until = std::max(until, entry(posted) + transfer(send.bytes));
    }
    for (; state.need < here.window_needs.size() && here.window_needs[state.need].call == state.call; ++state.need) {
      const WindowNeed& need = here.window_needs[state.need];
      // Who gets a lock first is a matter of times, which are other ones here.
      if (need.kind == WindowNeed::Kind::unlock) continue;
      if (!need.holds_up(call)) continue;
      if (wait_for(location, need.partner)) return true;
      until = std::max(until, entry(need.partner) + transfer(0));
    }
    if (state.part < here.parts.size() && here.parts[state.part].call == state.call) {
      return is_held_up(location, here, here.parts[state.part], call, until);
    }
    return false;
  }

  bool is_held_up(std::uint32_t location, const LocationCalls& here, const Part& part, const Call& call,
                  double& until) {
    const Instance& instance = instances_[part.group].instances[part.instance];
    const Group& group = run_.groups[part.group];
    const double steps = std::ceil(std::log2(std::max<double>(1.0, static_cast<double>(group.members.size()))));
    const auto all = [&] {
      if (!complete(part)) {
        waiting_[part.group].push_back(location);
        return true;
      }
      until = std::max(until, arrivals_[part.group][part.instance].latest + steps * transfer(part.bytes));
      return false;
    };
    const bool is_root = instance.root.call != kNone && instance.root.location == location;
    switch (instance.kind) {
      case CallKind::none:
        return false;
      case CallKind::one_to_n:
        if (is_root || instance.root.call == kNone) return false;
        if (wait_for(location, instance.root)) return true;
        until = std::max(until, entry(instance.root) + steps * transfer(part.bytes));
        return false;
      case CallKind::n_to_one:
        return is_root && all();
      case CallKind::scan: {
        Arrival& arrival = arrivals_[part.group][part.instance];
        const std::uint32_t own = group.position(here.process);
        for (; arrival.scanned < own; ++arrival.scanned) {
          const CallPlace before = group.call(arrival.scanned, part.instance);
          if (before.call == kNone) continue;
          if (wait_for(location, before)) return true;
          arrival.latest = std::max(arrival.latest, entry(before));
        }
        if (arrival.scanned > own) return scan_again(location, group, part, own, until, steps);
        until = std::max(until, arrival.latest + (own > 0 ? steps * transfer(part.bytes) : 0));
        return false;
      }
      case CallKind::init:
        return call.exit > call.entry && all();
      default:
        return call.has(Call::kNoWait) ? false : all();
    }
  }
  // A member behind this one was here first, so that the running maximum says too much.
  bool scan_again(std::uint32_t location, const Group& group, const Part& part, std::uint32_t own, double& until,
                  double steps) {
    for (std::uint32_t m = 0; m < own; ++m) {
      const CallPlace before = group.call(m, part.instance);
      if (before.call == kNone) continue;
      if (wait_for(location, before)) return true;
      until = std::max(until, entry(before) + steps * transfer(part.bytes));
    }
    return false;
  }

  const RunCalls& run_;
  const RunWaits& waits_;
  const std::vector<GroupInstances>& instances_;
  const ReplayModel& model_;
  ReplayResult& out_;
  std::vector<State> states_;
  std::vector<Entries> entries_;                     // by location; the beginning of the run is 0
  std::vector<std::vector<Arrival>> arrivals_;       // by group and instance
  std::vector<std::vector<std::uint32_t>> waiting_;  // locations in a collective of the group
  std::vector<std::uint32_t> ready_;
};

}  // namespace

Result<std::optional<ReplayResult>> replay(const RunCalls& run, const RunWaits& waits,
                                           const std::vector<GroupInstances>& instances, const ReplayModel& model) {
  std::optional<ReplayResult> none;
  if (run.cut || !run.missing.empty() || run.locations.empty()) return none;
  ReplayResult result;
  FATHOM_TRY(const bool done, Player(run, waits, instances, model, result).play());
  if (!done) return none;
  return std::optional<ReplayResult>(std::move(result));
}

}  // namespace fathom::analysis
