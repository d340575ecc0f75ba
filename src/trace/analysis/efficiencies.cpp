#include "trace/analysis/efficiencies.hpp"

#include <algorithm>

namespace fathom::analysis {

double useful_time(const RunCalls& run, std::uint32_t location, std::int64_t from, std::int64_t to) {
  const LocationCalls& here = run.locations[location];
  const auto& calls = here.calls;
  // Nothing is known of a location before its first call.
  if (calls.empty() || calls[0].entry >= to) return 0;
  from = std::max(from, calls[0].entry);
  // Time in calls up to a moment.
  const auto inside = [&](std::int64_t t) {
    const auto* next = std::upper_bound(calls.begin(), calls.end(), t,
                                        [](std::int64_t moment, const Call& call) { return moment < call.entry; });
    if (next == calls.begin()) return std::int64_t{0};
    const Call& call = *std::prev(next);
    return here.inside_before(static_cast<std::uint32_t>(&call - calls.data())) + std::min(call.exit, t) - call.entry;
  };
  return static_cast<double>(to - from - (inside(to) - inside(from)));
}

Efficiencies window_efficiencies(const RunCalls& run, std::int64_t from, std::int64_t to) {
  Efficiencies out;
  out.runtime = to - from;
  double sum = 0;
  std::size_t count = 0;
  for (std::uint32_t l = 0; l < run.locations.size(); ++l) {
    if (run.locations[l].calls.empty()) continue;
    const double useful = useful_time(run, l, from, to);
    sum += useful;
    out.useful_max = std::max(out.useful_max, useful);
    ++count;
  }
  const auto runtime = static_cast<double>(out.runtime);
  out.useful_mean = count > 0 ? sum / static_cast<double>(count) : 0;
  out.parallel = runtime > 0 ? out.useful_mean / runtime : 1;
  out.load_balance = out.useful_max > 0 ? out.useful_mean / out.useful_max : 1;
  out.communication = runtime > 0 ? out.useful_max / runtime : 1;
  return out;
}

Efficiencies run_efficiencies(const RunCalls& run, const std::optional<ReplayResult>& ideal) {
  Efficiencies out = window_efficiencies(run, run.t0, run.t1);
  double instructions = 0;
  double cycles = 0;
  bool all_instructions = true;
  bool all_cycles = true;
  for (const LocationCalls& here : run.locations) {
    if (here.calls.empty()) continue;
    instructions += here.instructions;
    cycles += here.cycles;
    all_instructions = all_instructions && here.instructions > 0;
    all_cycles = all_cycles && here.cycles > 0;
  }
  if (all_instructions) out.instructions = instructions;
  if (all_cycles) out.cycles = cycles;
  if (ideal && ideal->runtime > 0 && out.runtime > 0) {
    // No network makes a run longer than it was; where clocks contradict each other, the replay might.
    out.ideal_runtime = std::min(ideal->runtime, out.runtime);
    out.transfer = static_cast<double>(*out.ideal_runtime) / static_cast<double>(out.runtime);
    out.serialisation = out.useful_max / static_cast<double>(*out.ideal_runtime);
    return out;
  }
  out.why_not = !run.missing.empty() ? "ranks are missing"
                : run.cut            ? "the trace is cut off"
                                     : "calls wait for each other in a circle";
  return out;
}

}  // namespace fathom::analysis
