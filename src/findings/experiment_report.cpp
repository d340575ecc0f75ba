#include "findings/experiment_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/number.hpp"
#include "base/text.hpp"
#include "experiment/usual_metric.hpp"
#include "model/fit.hpp"
#include "model/ranking.hpp"

namespace fathom {

namespace {

// Where some metrics are times only the one counts whose models are shown unasked: minima and sums over ranks are of
// the same time, and shares of bytes say little about the run.
std::optional<std::uint32_t> judged_metric(const Experiment& experiment, const Ranking& ranking) {
  std::vector<std::uint32_t> there;
  for (const RankedModel& ranked : ranking.models) there.push_back(experiment.series()[ranked.model->series].metric);
  const auto usual = usual_metric(experiment, there);
  return usual && is_time(experiment.metrics()[*usual]) ? usual : std::nullopt;
}

// Growth with the logarithm of every parameter is what is expected.
double expected_growth(const Ranking& ranking) {
  double factor = 1;
  for (std::size_t i = 0; i < ranking.target.size() && i < ranking.largest.size(); ++i) {
    if (ranking.largest[i] > 1 && ranking.target[i] > ranking.largest[i]) {
      factor *= std::log2(ranking.target[i]) / std::log2(std::max(2.0, ranking.largest[i]));
    }
  }
  return factor;
}

}  // namespace

Result<Report> experiment_report(const Experiment& experiment, const Work& work) {
  FATHOM_TRY(const FitOptions options, fit_options("default", experiment.parameters().size()));
  FATHOM_TRY(const ModelSet set, fit(experiment, options, work));
  FATHOM_TRY(const Ranking ranking, rank_models(experiment, set, {}));
  const auto judged = judged_metric(experiment, ranking);
  const double expected = expected_growth(ranking);
  const std::string target = named_point(experiment, ranking.target);
  Report report;
  report.locations = 0;
  for (const RankedModel& ranked : ranking.models) {
    if (!ranked.bug) continue;
    const Series& series = experiment.series()[ranked.model->series];
    const Named& metric = experiment.metrics()[series.metric];
    if (judged && series.metric != *judged) continue;
    Finding finding;
    finding.kind = "scaling_bug";
    // What it takes at the target beyond the growth that was expected, as a share of everything there.
    const double beyond = ranked.then > 0 ? std::max(0.0, 1 - ranked.now * expected / ranked.then) : 0;
    finding.severity = std::min(1.0, ranked.share_then * beyond);
    finding.lost_s = std::max(0.0, ranked.then - ranked.now * expected);
    finding.level = level_of(finding.severity);
    finding.where.callpath = experiment.callpaths()[series.callpath].name;
    const auto arrow = finding.where.callpath.rfind("->");
    finding.where.region =
        arrow == std::string::npos ? finding.where.callpath : finding.where.callpath.substr(arrow + 2);
    finding.add_evidence("metric", metric.name);
    finding.add_evidence("model", text(ranked.model->function, experiment.parameters()));
    finding.add_evidence("at", target);
    finding.add_evidence("now", ranked.now);
    finding.add_evidence("then", ranked.then);
    finding.add_evidence("share_now", ranked.share_now);
    finding.add_evidence("share_then", ranked.share_then);
    finding.add_evidence("SMAPE", ranked.model->quality.smape);
    finding.text = ranked.explanation.empty()
                       ? fmt::format("{} grows faster than expected: {} of the total now, {} at {}.",
                                     shorten_name(finding.where.region, 60), percent(ranked.share_now, 1),
                                     percent(ranked.share_then, 1), target)
                       : ranked.explanation;
    finding.advice =
        "Look at what in it depends on the number of ranks or the size of the problem, before running larger; "
        "fathom model PATH shows the models.";
    report.findings.push_back(std::move(finding));
  }
  report.finish();
  return report;
}

}  // namespace fathom
