#include "findings/dataset_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "findings/experiment_report.hpp"
#include "findings/profile_report.hpp"
#include "findings/trace_report.hpp"
#include "formats/format.hpp"
#include "profile/selection.hpp"
#include "trace/analysis/analysis.hpp"

namespace fathom {

Result<ReportInput> report_input(Dataset& dataset) {
  ReportInput input;
  input.path = dataset.path().string();
  input.format = dataset.format().name;
  input.work = dataset.work();
  const auto levels = dataset.levels();
  const auto has = [&](Level level) { return std::find(levels.begin(), levels.end(), level) != levels.end(); };
  if (has(Level::profile)) {
    FATHOM_TRY(input.profile, dataset.profile());
  } else if (has(Level::experiment)) {
    FATHOM_TRY(input.experiment, dataset.experiment());
  } else {
    FATHOM_TRY(input.trace, dataset.trace());
  }
  return input;
}

namespace {

Result<Report> report_of(const ReportInput& input) {
  if (input.profile) {
    FATHOM_TRY(const auto metrics, choose_or_guess_metrics(*input.profile, {}));
    return profile_report(*input.profile, metrics.front());
  }
  if (input.experiment) return experiment_report(*input.experiment, input.work);
  FATHOM_TRY(const auto analysis, analysis::analyse(*input.trace, input.work));
  return trace_report(*analysis);
}

}  // namespace

Result<Report> make_report(const ReportInput& input) {
  FATHOM_TRY(Report report, report_of(input));
  report.path = input.path;
  report.format = input.format;
  return report;
}

Result<Report> dataset_report(Dataset& dataset, const Work& work) {
  FATHOM_TRY(ReportInput input, report_input(dataset));
  input.work = work;
  return make_report(input);
}

Result<Report> make_report(Dataset& before, Dataset& after) {
  FATHOM_TRY(const auto a, before.profile());
  FATHOM_TRY(const auto b, after.profile());
  FATHOM_TRY(const auto metrics, choose_or_guess_metrics(*a, {}));
  const std::string& name = a->defs().metric(metrics.front()).name;
  const MetricId other = b->defs().find_metric(name);
  if (!other.valid()) return Error::usage(fmt::format("{} has no metric '{}'", after.path().string(), name));
  FATHOM_TRY(Report report, pair_report({a.get(), metrics.front()}, {b.get(), other}));
  report.path = after.path().string();
  report.format = after.format().name;
  return report;
}

}  // namespace fathom
