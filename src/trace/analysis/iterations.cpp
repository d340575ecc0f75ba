#include "trace/analysis/iterations.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <queue>

#include "base/median.hpp"

namespace fathom::analysis {

namespace {

constexpr std::size_t kFewest = 5;

double deviation(const std::vector<double>& values, double median) {
  std::vector<double> rest;
  rest.reserve(values.size());
  for (const double value : values) rest.push_back(std::abs(value - median));
  return median_of(std::move(rest));
}

std::vector<double> lengths(const std::vector<Step>& steps) {
  std::vector<double> out;
  out.reserve(steps.size());
  for (const Step& step : steps) out.push_back(static_cast<double>(step.length()));
  return out;
}

// Ends of steps: where the last one leaves the collective that ends a turn of the loop.
std::vector<std::int64_t> ends_by_collective(const RunCalls& run) {
  std::vector<std::int64_t> ends;
  const auto lowest = std::find_if(run.locations.begin(), run.locations.end(),
                                   [](const LocationCalls& here) { return !here.calls.empty(); });
  if (lowest == run.locations.end()) return ends;
  for (const std::uint32_t call : lowest->loop.collective_anchors) {
    const auto* part = std::lower_bound(lowest->parts.begin(), lowest->parts.end(), call,
                                        [](const Part& p, std::uint32_t wanted) { return p.call < wanted; });
    if (part == lowest->parts.end() || part->call != call) continue;
    const Group& group = run.groups[part->group];
    std::int64_t end = run.t0;
    for (const auto& calls : group.calls) {
      if (part->instance < calls.size()) end = std::max(end, run.at(calls[part->instance]).exit);
    }
    ends.push_back(end);
  }
  return ends;
}

std::vector<std::int64_t> ends_by_completion(const RunCalls& run) {
  std::vector<std::int64_t> ends;
  bool first = true;
  for (const LocationCalls& here : run.locations) {
    if (here.calls.empty()) continue;
    const auto& anchors = here.loop.completion_anchors;
    if (first) ends.assign(anchors.size(), run.t0);
    first = false;
    if (anchors.size() != ends.size()) return {};
    for (std::size_t i = 0; i < anchors.size(); ++i) ends[i] = std::max(ends[i], here.calls[anchors[i]].exit);
  }
  return ends;
}

std::vector<std::uint32_t> slow_steps(const std::vector<Step>& steps) {
  const std::vector<double> all = lengths(steps);
  const double median = median_of(all);
  const double spread = std::max(deviation(all, median), 0.01 * median);
  std::vector<std::uint32_t> slow;
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (all[i] > 1.5 * median && all[i] - median > 6 * spread) slow.push_back(i);
  }
  return slow;
}

// Slow steps at one distance are the turns of an outer loop: the distance, or 0.
std::uint32_t regular_distance(const std::vector<std::uint32_t>& slow) {
  if (slow.size() < 3) return 0;
  std::map<std::uint32_t, std::size_t> gaps;
  for (std::size_t i = 1; i < slow.size(); ++i) ++gaps[slow[i] - slow[i - 1]];
  for (const auto& [gap, count] : gaps) {
    if (gap > 1 && static_cast<double>(count) >= 0.8 * static_cast<double>(slow.size() - 1)) return gap;
  }
  return 0;
}

std::vector<Step> merged(const std::vector<Step>& steps, std::uint32_t by, std::uint32_t last) {
  std::vector<Step> out;
  // A turn ends with its slow step.
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const bool begins = i == 0 || (i - 1) % by == last % by;
    if (begins) {
      out.push_back(steps[i]);
    } else {
      out.back().to = steps[i].to;
    }
  }
  // The rests at both ends are no turns.
  if (!out.empty() && (last % by) + 1 != by) out.erase(out.begin());
  if (!out.empty() && (steps.size() - 1) % by != last % by) out.pop_back();
  return out;
}

// Summed distance from the median of all values up to each, from the front.
std::vector<double> costs_from_front(const std::vector<double>& values) {
  std::priority_queue<double> low;
  std::priority_queue<double, std::vector<double>, std::greater<>> high;
  double low_sum = 0;
  double high_sum = 0;
  std::vector<double> out;
  out.reserve(values.size());
  for (const double value : values) {
    if (low.empty() || value <= low.top()) {
      low.push(value);
      low_sum += value;
    } else {
      high.push(value);
      high_sum += value;
    }
    while (low.size() > high.size() + 1) {
      high.push(low.top());
      high_sum += low.top();
      low_sum -= low.top();
      low.pop();
    }
    while (high.size() > low.size()) {
      low.push(high.top());
      low_sum += high.top();
      high_sum -= high.top();
      high.pop();
    }
    const double median = low.top();
    out.push_back(median * static_cast<double>(low.size()) - low_sum + high_sum -
                  median * static_cast<double>(high.size()));
  }
  return out;
}

// The step with which a new phase begins; 0 = all is one.
std::size_t phase_change(const std::vector<double>& values) {
  constexpr std::size_t kShortest = 3;
  if (values.size() < 2 * kShortest) return 0;
  const std::vector<double> front = costs_from_front(values);
  std::vector<double> reversed(values.rbegin(), values.rend());
  const std::vector<double> back = costs_from_front(reversed);
  std::size_t best = 0;
  double lowest = INFINITY;
  for (std::size_t cut = kShortest; cut + kShortest <= values.size(); ++cut) {
    const double cost = front[cut - 1] + back[values.size() - cut - 1];
    if (cost < lowest) {
      lowest = cost;
      best = cut;
    }
  }
  const std::vector<double> before(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(best));
  const std::vector<double> after(values.begin() + static_cast<std::ptrdiff_t>(best), values.end());
  const double a = median_of(before);
  const double b = median_of(after);
  const double spread = std::max(deviation(before, a), deviation(after, b));
  const bool differ = std::abs(b - a) > 0.1 * std::min(a, b) && std::abs(b - a) > 6 * spread;
  return differ ? best : 0;
}

// The last marker of the lowest rank up to a moment: programs say so what comes next.
std::string marker_before(const RunCalls& run, std::int64_t time) {
  for (const LocationCalls& here : run.locations) {
    if (here.markers.empty()) continue;
    std::string name;
    for (const auto& [at, marker] : here.markers) {
      if (at <= time && marker < run.trace->markers().size()) name = run.trace->markers()[marker];
    }
    return name;
  }
  return {};
}

}  // namespace

bool Iterations::in_slow_step(std::int64_t time) const {
  return std::any_of(slow.begin(), slow.end(),
                     [&](std::uint32_t k) { return time >= steps[k].from && time <= steps[k].to; });
}

Iterations find_iterations(const RunCalls& run) {
  Iterations out;
  std::vector<std::int64_t> ends = ends_by_collective(run);
  if (ends.size() < kFewest) ends = ends_by_completion(run);
  std::int64_t from = run.t0;
  for (const std::int64_t end : ends) {
    if (end > run.t1) break;
    out.steps.push_back({from, std::max(from, end)});
    from = std::max(from, end);
  }
  if (out.steps.size() < kFewest) {
    out.steps.clear();
    return out;
  }
  std::vector<std::uint32_t> slow = slow_steps(out.steps);
  if (const std::uint32_t gap = regular_distance(slow); gap > 0) {
    std::vector<Step> turns = merged(out.steps, gap, slow[0]);
    slow.clear();
    if (turns.size() >= kFewest) {
      out.steps = std::move(turns);
      slow = slow_steps(out.steps);
    }
  }
  const std::vector<double> all = lengths(out.steps);
  out.median = median_of(all);
  const auto most = std::max<std::size_t>(1, out.steps.size() / 10);
  if (slow.size() <= most) out.slow = std::move(slow);
  const auto add_phase = [&](std::size_t begin, std::size_t end) {
    Phase phase;
    phase.from = out.steps[begin].from;
    phase.to = out.steps[end - 1].to;
    phase.median =
        median_of({all.begin() + static_cast<std::ptrdiff_t>(begin), all.begin() + static_cast<std::ptrdiff_t>(end)});
    phase.efficiencies = window_efficiencies(run, phase.from, phase.to);
    phase.name = marker_before(run, phase.from + static_cast<std::int64_t>(phase.median / 2));
    out.phases.push_back(std::move(phase));
  };
  const std::size_t change = phase_change(all);
  if (change > 0) add_phase(0, change);
  add_phase(change, all.size());
  return out;
}

}  // namespace fathom::analysis
