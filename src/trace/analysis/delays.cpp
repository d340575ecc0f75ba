#include "trace/analysis/delays.hpp"

#include <algorithm>
#include <map>
#include <memory>

#include "base/cancel.hpp"
#include "base/parallel.hpp"

namespace fathom::analysis {

namespace {

// Costs that are passed to many wait states of a location at once: a rate per kind that holds in a range of them. Wait
// states are taken from the last to the first, so that ranges are two changes of the rate.
class Rates {
 public:
  explicit Rates(std::size_t waits) : changes_(kWaitKinds), size_(waits) {}
  void add(std::size_t kind, std::uint32_t begin, std::uint32_t end, double rate) {
    auto& changes = changes_[kind];
    if (changes.empty()) changes.assign(size_, 0);
    changes[end - 1] += rate;
    if (begin > 0) changes[begin - 1] -= rate;
  }
  // For the wait state `at`, the one before the last that was asked for.
  double of(std::uint32_t at, std::size_t kind) {
    for (std::size_t k = 0; k < kWaitKinds; ++k) {
      if (!changes_[k].empty()) now_[k] += changes_[k][at];
    }
    return std::max(0.0, now_[kind]);
  }

 private:
  std::vector<std::vector<double>> changes_;
  std::array<double, kWaitKinds> now_{};
  std::size_t size_;
};

class Sweep {
 public:
  Sweep(const RunCalls& run, RunWaits& waits, const Intervals& intervals, Delays& out)
      : waits_(waits), intervals_(intervals), out_(out), rates_(run.locations.size()), left_(run.locations.size()) {
    for (std::size_t l = 0; l < left_.size(); ++l) {
      left_[l] = static_cast<std::uint32_t>(waits.locations[l].waits.size());
    }
  }

  void take(WaitPlace place) {
    Wait& wait = waits_.locations[place.location].waits[place.wait];
    left_[place.location] = place.wait;
    if (rates_[place.location] != nullptr) {
      const double rate = rates_[place.location]->of(place.wait, static_cast<std::size_t>(wait.kind));
      wait.cost += rate * static_cast<double>(wait.length);
    }
    const auto length = static_cast<double>(wait.length);
    wait.cost += length;
    if (is_point_to_point(wait.kind)) {
      out_.waited_point_to_point += length;
      out_.passed_point_to_point += length * wait.passed();
    }
    const double passed = wait.passed();
    // Where clocks contradict each other nobody may be left to take it: then it stays with the culprit.
    if (passed > 0 && !pass(wait, wait.cost * passed, place.location)) wait.direct[0] += passed;
    DelayCosts& costs = out_.locations[wait.culprit];
    for (std::size_t a = 0; a < kActivities; ++a) {
      costs.short_ns[a] += length * wait.direct[a];
      costs.long_ns[a] += (wait.cost - length) * wait.direct[a];
    }
  }

 private:
  bool pass(const Wait& wait, double cost, std::uint32_t victim) {
    const std::uint32_t first = wait.passed_begin;
    const std::uint32_t end = std::min(wait.passed_end, left_[wait.culprit]);
    if (first >= end) return false;
    auto& list = waits_.locations[wait.culprit].waits;
    // Mostly there is one, and it takes all.
    if (end == first + 1 && end == wait.passed_end) {
      const auto length = static_cast<double>(list[first].length);
      list[first].cost += cost / length * length;
      return true;
    }
    const Blame blame = intervals_.blame(victim, wait);
    std::array<double, kWaitKinds> length{};
    constexpr std::uint32_t kFew = 64;
    const bool few = end - first <= kFew;
    if (few) {
      for (std::uint32_t i = first; i < end; ++i) {
        length[static_cast<std::size_t>(list[i].kind)] += static_cast<double>(list[i].length);
      }
    } else {
      const auto before = intervals_.waited_before(wait.culprit, first);
      const auto until = intervals_.waited_before(wait.culprit, end);
      for (std::size_t k = 0; k < kWaitKinds; ++k) length[k] = static_cast<double>(until[k] - before[k]);
    }
    double reachable = 0;
    for (std::size_t k = 0; k < kWaitKinds; ++k) {
      if (length[k] <= 0) continue;
      reachable += blame.kinds[k];
    }
    if (reachable <= 0) return false;
    std::array<double, kWaitKinds> rate{};
    for (std::size_t k = 0; k < kWaitKinds; ++k) {
      if (length[k] > 0) rate[k] = cost * blame.kinds[k] / reachable / length[k];
    }
    if (few) {
      for (std::uint32_t i = first; i < end; ++i) {
        list[i].cost += rate[static_cast<std::size_t>(list[i].kind)] * static_cast<double>(list[i].length);
      }
      return true;
    }
    auto& rates = rates_[wait.culprit];
    if (rates == nullptr) rates = std::make_unique<Rates>(list.size());
    for (std::size_t k = 0; k < kWaitKinds; ++k) {
      if (rate[k] > 0) rates->add(k, first, end, rate[k]);
    }
    return true;
  }

  RunWaits& waits_;
  const Intervals& intervals_;
  Delays& out_;
  std::vector<std::unique_ptr<Rates>> rates_;
  std::vector<std::uint32_t> left_;  // wait states that were not taken yet, from the first one on
};

// Delays of computation by call path. Victims are looked at in parallel, a few at a time because each may have many
// culprits, and added in their order.
Result<void> find_delay_paths(const RunCalls& run, const RunWaits& waits, const Intervals& intervals, Delays& out) {
  using CulpritPath = std::pair<std::uint32_t, std::uint32_t>;
  using Costs = std::map<CulpritPath, DelayCosts::OfPath>;
  const auto add = [](Costs& costs, CulpritPath to, double short_ns, double long_ns) {
    DelayCosts::OfPath& cost = costs[to];
    cost.short_ns += short_ns;
    cost.long_ns += long_ns;
  };
  Costs all;
  constexpr std::size_t kAtATime = 32;
  for (std::size_t first = 0; first < run.locations.size(); first += kAtATime) {
    std::vector<Costs> some(std::min(kAtATime, run.locations.size() - first));
    FATHOM_CHECK(parallel_for(some.size(), [&](std::size_t i) -> Result<void> {
      PathShares shares(intervals);
      const auto victim = static_cast<std::uint32_t>(first + i);
      for (const Wait& wait : waits.locations[victim].waits) {
        const double direct = wait.direct[static_cast<std::size_t>(Activity::compute)];
        if (direct <= 0) continue;
        const auto length = static_cast<double>(wait.length);
        for (const PathShare& share : shares.of(victim, wait)) {
          add(some[i], {wait.culprit, share.path}, length * direct * share.share,
              (wait.cost - length) * direct * share.share);
        }
      }
      return {};
    }));
    for (const Costs& costs : some) {
      for (const auto& [to, cost] : costs) add(all, to, cost.short_ns, cost.long_ns);
    }
  }
  for (const auto& [to, cost] : all) out.locations[to.first].paths.push_back({to.second, cost.short_ns, cost.long_ns});
  return {};
}

}  // namespace

Result<Delays> find_delays(const RunCalls& run, RunWaits& waits, const Intervals& intervals) {
  Delays out;
  out.locations.resize(run.locations.size());
  out.order = LargeArray<WaitPlace>(*run.pool);
  constexpr std::size_t kAhead = 8;
  FATHOM_CHECK(parallel_for(run.locations.size(), [&](std::size_t l) -> Result<void> {
    auto& list = waits.locations[l].waits;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (i + kAhead < list.size()) intervals.prefetch(list[i + kAhead]);
      Wait& wait = list[i];
      const Blame blame = intervals.blame(static_cast<std::uint32_t>(l), wait);
      wait.direct = blame.direct;
      if (blame.passed > 0) {
        const auto& calls = run.locations[wait.culprit].calls;
        wait.passed_begin = calls[wait.culprit_begin].first_wait;
        wait.passed_end = calls[wait.culprit_call].first_wait;
      } else {
        // What is not passed on is all there, whatever the rounding.
        *std::max_element(wait.direct.begin(), wait.direct.end()) += wait.passed();
      }
    }
    return {};
  }));
  for (std::uint32_t l = 0; l < run.locations.size(); ++l) {
    const auto& list = waits.locations[l].waits;
    const auto& calls = run.locations[l].calls;
    for (std::uint32_t i = 0; i < list.size(); ++i) {
      out.order.push_back({calls[list[i].call].entry + list[i].length, l, i});
    }
  }
  FATHOM_CHECK(run.pool->status());
  std::sort(out.order.begin(), out.order.end(), [](const WaitPlace& a, const WaitPlace& b) {
    if (a.end != b.end) return a.end > b.end;
    return a.location != b.location ? a.location < b.location : a.wait > b.wait;
  });
  Sweep sweep(run, waits, intervals, out);
  for (std::size_t i = 0; i < out.order.size(); ++i) {
    if (i % 65536 == 65535 && cancelled()) return cancelled_error();
    // Locations take turns, so that each lies far from the one before.
    if (i + kAhead < out.order.size()) {
      const WaitPlace& later = out.order[i + kAhead];
      __builtin_prefetch(&waits.locations[later.location].waits[later.wait]);
    }
    sweep.take(out.order[i]);
  }
  if (PathShares::known(run)) FATHOM_CHECK(find_delay_paths(run, waits, intervals, out));
  return out;
}

}  // namespace fathom::analysis
