#include "trace/analysis/what_if.hpp"

#include <algorithm>

namespace fathom::analysis {

namespace {

Result<ReplayResult> played(const Analysis& analysis, const ReplayModel& model) {
  FATHOM_TRY(auto result, replay(analysis.run, analysis.waits, analysis.instances, model));
  if (!result) {
    return Error(analysis.efficiencies.why_not.empty()
                     ? "the run cannot be replayed"
                     : "the run cannot be replayed: " + analysis.efficiencies.why_not);
  }
  return std::move(*result);
}

}  // namespace

Result<Prediction> what_if(const Analysis& analysis, const Change& change) {
  const RunCalls& run = analysis.run;
  ReplayModel recorded;
  recorded.network = ReplayModel::Network::recorded;
  FATHOM_TRY(const ReplayResult as_it_was, played(analysis, recorded));
  ReplayModel model;
  model.network = change.network;
  model.latency_ns = change.latency_ns;
  model.bytes_per_ns = change.bytes_per_ns;
  model.compute_scale.assign(run.locations.size(), 1);
  double mean = 0;
  for (const double useful : as_it_was.useful)
    mean += useful / static_cast<double>(std::max<std::size_t>(run.present(), 1));
  for (std::size_t l = 0; l < run.locations.size(); ++l) {
    double& scale = model.compute_scale[l];
    if (change.balance && as_it_was.useful[l] > 0) scale = mean / as_it_was.useful[l];
    const auto of_rank = std::find_if(change.compute.begin(), change.compute.end(),
                                      [&](const auto& entry) { return entry.first == run.locations[l].rank; });
    const auto of_all =
        std::find_if(change.compute.begin(), change.compute.end(), [](const auto& entry) { return entry.first == -1; });
    if (of_rank != change.compute.end()) {
      scale *= of_rank->second;
    } else if (of_all != change.compute.end()) {
      scale *= of_all->second;
    }
  }
  FATHOM_TRY(const ReplayResult result, played(analysis, model));
  constexpr double kSecond = 1e-9;
  Prediction out;
  out.recorded_s = static_cast<double>(run.runtime()) * kSecond;
  out.replayed_s = static_cast<double>(as_it_was.runtime) * kSecond;
  out.predicted_s = static_cast<double>(result.runtime) * kSecond;
  out.before = analysis.efficiencies;
  out.after.runtime = result.runtime;
  for (std::size_t l = 0; l < run.locations.size(); ++l) {
    out.after.useful_mean += result.useful[l] / static_cast<double>(std::max<std::size_t>(run.present(), 1));
    out.after.useful_max = std::max(out.after.useful_max, result.useful[l]);
  }
  const auto runtime = static_cast<double>(std::max<std::int64_t>(result.runtime, 1));
  out.after.parallel = out.after.useful_mean / runtime;
  out.after.load_balance = out.after.useful_max > 0 ? out.after.useful_mean / out.after.useful_max : 1;
  out.after.communication = out.after.useful_max / runtime;
  return out;
}

}  // namespace fathom::analysis
