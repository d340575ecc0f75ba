#include "findings/trace_report.hpp"

#include <algorithm>
#include <map>

#include "findings/trace_findings.hpp"

namespace fathom {

using namespace analysis;

namespace {

constexpr double kSecond = 1e-9;

std::vector<NamedSeconds> named(const RunCalls& run, const std::vector<double>& by_name) {
  std::vector<NamedSeconds> out;
  for (std::size_t i = 0; i < by_name.size(); ++i) {
    if (by_name[i] > 0) out.push_back({run.names[i].name, by_name[i] * kSecond});
  }
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.s > b.s; });
  return out;
}

}  // namespace

namespace {

void add_callpaths(const RunCalls& run, const DelayCosts& costs, DelayCost& out) {
  std::vector<DelayCosts::OfPath> order = costs.paths;
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.short_ns + a.long_ns > b.short_ns + b.long_ns; });
  for (const DelayCosts::OfPath& cost : order) {
    if (out.callpaths.size() == LocationShares::kMost) {
      ++out.callpaths_more;
    } else {
      out.callpaths.push_back({run.path_name(cost.path), cost.short_ns * kSecond, cost.long_ns * kSecond});
    }
  }
}

}  // namespace

LocationShares largest_locations(const RunCalls& run, const std::vector<double>& ns, double total, double least) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t l = 0; l < ns.size(); ++l) {
    if (ns[l] > 0 && ns[l] >= least * total) order.push_back(l);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return ns[a] > ns[b]; });
  LocationShares out;
  for (const std::uint32_t l : order) {
    if (out.list.size() == LocationShares::kMost) {
      ++out.more;
      continue;
    }
    out.list.push_back({run.locations[l].rank, run.label(l), ns[l] * kSecond, total > 0 ? ns[l] / total : 0});
  }
  return out;
}

std::vector<WaitState> wait_state_numbers(const Analysis& analysis) {
  const RunCalls& run = analysis.run;
  // The last two rows: wrong order, which is part of late sender, and missing overlap, which is no wait.
  constexpr std::size_t kWrongOrder = kWaitKinds;
  constexpr std::size_t kNoOverlap = kWaitKinds + 1;
  struct Sums {
    double ns = 0;
    std::uint64_t count = 0;
    std::vector<double> victims, culprits, names;
  };
  std::vector<Sums> sums(kWaitKinds + 2);
  for (Sums& sum : sums) {
    sum.victims.resize(run.locations.size());
    sum.culprits.resize(run.locations.size());
    sum.names.resize(run.names.size());
  }
  const auto add = [&](std::size_t row, std::uint32_t location, const Wait& wait) {
    const auto length = static_cast<double>(wait.length);
    Sums& sum = sums[row];
    sum.ns += length;
    ++sum.count;
    sum.victims[location] += length;
    sum.culprits[wait.culprit] += length;
    sum.names[run.locations[location].calls[wait.call].name] += length;
  };
  for (std::uint32_t l = 0; l < run.locations.size(); ++l) {
    const LocationWaits& waits = analysis.waits.locations[l];
    for (const Wait& wait : waits.waits) {
      add(static_cast<std::size_t>(wait.kind), l, wait);
      if (wait.wrong_order) add(kWrongOrder, l, wait);
    }
    sums[kNoOverlap].ns += static_cast<double>(waits.no_overlap_ns);
    sums[kNoOverlap].count += waits.no_overlap;
    sums[kNoOverlap].victims[l] += static_cast<double>(waits.no_overlap_ns);
  }
  for (std::size_t n = 0; n < run.names.size(); ++n) {
    sums[kNoOverlap].names[n] = static_cast<double>(analysis.waits.no_overlap_by_name[n]);
  }
  std::vector<WaitState> out;
  for (std::size_t row = 0; row < sums.size(); ++row) {
    const Sums& sum = sums[row];
    if (sum.count == 0) continue;
    WaitState state;
    state.kind = row < kWaitKinds     ? std::string(to_string(static_cast<WaitKind>(row)))
                 : row == kWrongOrder ? "late_sender_wrong_order"
                                      : "no_overlap";
    state.s = sum.ns * kSecond;
    state.count = sum.count;
    state.share = analysis.location_time() > 0 ? sum.ns / analysis.location_time() : 0;
    state.victims = largest_locations(run, sum.victims, sum.ns);
    state.culprits = largest_locations(run, sum.culprits, sum.ns);
    state.regions = named(run, sum.names);
    out.push_back(std::move(state));
  }
  return out;
}

std::vector<PathPart> critical_path_numbers(const Analysis& analysis) {
  const RunCalls& run = analysis.run;
  // Imbalance of an activity: what the path has more of it than a location on average, shared out by length.
  const std::array<double, kActivities> mean = analysis.mean_activity();
  std::array<double, kActivities> on_path{};
  for (const auto& of_location : analysis.path.locations) {
    for (std::size_t a = 0; a < kActivities; ++a) on_path[a] += static_cast<double>(of_location[a]);
  }
  std::vector<PathPart> out;
  for (std::uint32_t l = 0; l < analysis.path.locations.size(); ++l) {
    for (std::size_t a = 0; a < kActivities; ++a) {
      const auto ns = static_cast<double>(analysis.path.locations[l][a]);
      if (ns <= 0) continue;
      const double imbalance = std::max(0.0, on_path[a] - mean[a]) * ns / on_path[a];
      out.push_back({run.locations[l].rank, run.label(l), std::string(to_string(static_cast<Activity>(a))),
                     ns * kSecond, ns / static_cast<double>(std::max<std::int64_t>(analysis.path.length, 1)),
                     imbalance * kSecond});
    }
  }
  std::stable_sort(out.begin(), out.end(), [](const PathPart& a, const PathPart& b) { return a.s > b.s; });
  return out;
}

EfficiencyNumbers efficiency_numbers(const Efficiencies& from) {
  EfficiencyNumbers out;
  out.parallel = from.parallel;
  out.load_balance = from.load_balance;
  out.communication = from.communication;
  out.serialisation = from.serialisation;
  out.transfer = from.transfer;
  out.runtime_s = static_cast<double>(from.runtime) * kSecond;
  if (from.ideal_runtime) out.ideal_runtime_s = static_cast<double>(*from.ideal_runtime) * kSecond;
  out.useful_mean_s = from.useful_mean * kSecond;
  out.useful_max_s = from.useful_max * kSecond;
  out.why_not = from.why_not;
  out.instructions = from.instructions;
  if (from.instructions && from.cycles) out.ipc = *from.instructions / *from.cycles;
  return out;
}

Report trace_report(const Analysis& analysis) {
  const RunCalls& run = analysis.run;
  Report report;
  report.locations = run.present();
  report.runtime_s = static_cast<double>(run.runtime()) * kSecond;
  report.location_time_s = analysis.location_time() * kSecond;
  report.findings = trace_findings(analysis);
  report.efficiencies = efficiency_numbers(analysis.efficiencies);
  const double useful_ns = analysis.efficiencies.useful_mean * static_cast<double>(run.present());
  if (analysis.efficiencies.cycles && useful_ns > 0) {
    report.efficiencies->frequency_hz = *analysis.efficiencies.cycles / (useful_ns * kSecond);
  }
  report.critical_path = critical_path_numbers(analysis);
  report.wait_states = wait_state_numbers(analysis);
  report.delay_costs.emplace();
  for (std::uint32_t l = 0; l < run.locations.size(); ++l) {
    for (std::size_t a = 0; a < kActivities; ++a) {
      const DelayCosts& costs = analysis.delays.locations[l];
      if (costs.short_ns[a] <= 0 && costs.long_ns[a] <= 0) continue;
      DelayCost& cost = report.delay_costs->emplace_back();
      cost.rank = run.locations[l].rank;
      cost.location = run.label(l);
      cost.activity = to_string(static_cast<Activity>(a));
      cost.short_s = costs.short_ns[a] * kSecond;
      cost.long_s = costs.long_ns[a] * kSecond;
      if (static_cast<Activity>(a) == Activity::compute) add_callpaths(run, costs, cost);
    }
  }
  std::stable_sort(report.delay_costs->begin(), report.delay_costs->end(),
                   [](const DelayCost& a, const DelayCost& b) { return a.short_s + a.long_s > b.short_s + b.long_s; });
  const Iterations& iterations = analysis.iterations;
  if (!iterations.steps.empty()) {
    IterationNumbers numbers;
    numbers.count = iterations.steps.size();
    numbers.median_s = iterations.median * kSecond;
    numbers.slow.assign(iterations.slow.begin(), iterations.slow.end());
    for (const Phase& phase : iterations.phases) {
      numbers.phases.push_back({phase.name, static_cast<double>(phase.from - run.t0) * kSecond,
                                static_cast<double>(phase.to - run.t0) * kSecond, phase.median * kSecond,
                                phase.efficiencies.parallel, phase.efficiencies.load_balance});
    }
    report.iterations = std::move(numbers);
  }
  const Pattern& pattern = analysis.pattern;
  report.pattern = PatternNumbers{pattern.name, pattern.offsets, pattern.messages,
                                  pattern.messages > 0 ? pattern.bytes / static_cast<double>(pattern.messages) : 0};
  report.finish();
  return report;
}

}  // namespace fathom
