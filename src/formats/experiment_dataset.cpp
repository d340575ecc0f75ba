#include "formats/experiment_dataset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "experiment/strong_scaling.hpp"
#include "formats/reading_options.hpp"

namespace fathom {

std::vector<Level> ExperimentDataset::levels() const {
  if (models_ != nullptr && !models_->empty()) return {Level::experiment, Level::model};
  return {Level::experiment};
}

Result<std::vector<InfoEntry>> ExperimentDataset::describe(bool) {
  FATHOM_CHECK(load());
  const Experiment& e = *experiment_;
  std::vector<InfoEntry> entries = {
      {"metrics", std::uint64_t{e.metrics().size()}},
      {"contexts", std::uint64_t{e.callpaths().size()}},
      {"parameters", e.parameters()},
      {"points", std::uint64_t{e.point_count()}},
      {"series", std::uint64_t{e.series().size()}},
      {"measurements", std::uint64_t{e.measurement_count()}},
  };
  std::vector<std::string> names;
  for (const Named& m : e.metrics()) names.push_back(m.name);
  entries.push_back({"metric_names", names});
  if (e.scaling() != Scaling::none) entries.push_back({"scaling", std::string(to_string(e.scaling()))});
  if (const auto reps = e.repetitions(); !reps.empty()) {
    const auto [low, high] = std::minmax_element(reps.begin(), reps.end());
    if (*low > 0) {
      entries.push_back({"repetitions", *low == *high ? fmt::format("{}", *low) : fmt::format("{}-{}", *low, *high)});
    }
  }
  if (models_ != nullptr && !models_->empty()) {
    std::vector<std::string> sets;
    for (const ModelSet& set : *models_) sets.push_back(set.name);
    entries.push_back({"model_sets", sets});
  }
  return entries;
}

Result<std::shared_ptr<const Experiment>> ExperimentDataset::experiment() {
  FATHOM_CHECK(load());
  if (!validated_) {
    FATHOM_CHECK(validate(*experiment_, work()->options.flag(kAllowIncomplete)));
    validated_ = true;
  }
  if (const std::string parameter = work()->options.text(kMultiplyBy); !parameter.empty() && !multiplied_) {
    const auto& names = experiment_->parameters();
    const auto found = std::find(names.begin(), names.end(), parameter);
    if (found == names.end()) {
      return Error::usage(
                 fmt::format("there is no parameter '{}' to multiply by{}", parameter, did_you_mean(parameter, names)))
          .hint(fmt::format("the parameters are {}", fmt::join(names, ", ")));
    }
    FATHOM_TRY(experiment_, multiplied_by(*experiment_, static_cast<std::uint32_t>(found - names.begin()), work()));
    multiplied_ = true;
  }
  return experiment_;
}

Result<std::shared_ptr<const std::vector<ModelSet>>> ExperimentDataset::models() {
  if (models_ == nullptr || models_->empty()) return no_level(Level::model);
  return models_;
}

Result<void> ExperimentDataset::dump(const DumpOptions&, const TextSink& sink) {
  FATHOM_CHECK(load());
  return write_experiment_text(*experiment_, sink);
}

Result<void> ExperimentDataset::check() {
  FATHOM_CHECK(load());
  const Place place = Place::in(path().string());
  if (const auto valid = validate(*experiment_, true); !valid.ok()) {
    return work()->diagnostics.lost("experiment.invalid", place, valid.error().what());
  }
  // Each incomplete series on its own.
  const Experiment& e = *experiment_;
  for (const Series& series : e.series()) {
    const std::size_t count = e.points_of(series).size();
    if (count == e.point_count()) continue;
    FATHOM_CHECK(work()->diagnostics.warn(
        "experiment.incomplete", place,
        fmt::format("metric '{}' of '{}' has {} measurements for {} points", e.metrics()[series.metric].name,
                    e.callpaths()[series.callpath].name, count, e.point_count())));
  }
  for (const Series& series : e.series()) {
    const auto means = e.means().subspan(series.first, e.points_of(series).size());
    const auto odd = std::count_if(means.begin(), means.end(), [](double mean) { return !std::isfinite(mean); });
    if (odd == 0) continue;
    FATHOM_CHECK(work()->diagnostics.warn(
        "experiment.not_finite", place,
        fmt::format("metric '{}' of '{}' is no finite number at {} of {} points", e.metrics()[series.metric].name,
                    e.callpaths()[series.callpath].name, odd, means.size())));
  }
  for (std::size_t p = 0; p < e.parameters().size(); ++p) {
    std::vector<double> values;
    for (std::size_t i = 0; i < e.point_count(); ++i) values.push_back(e.point(i)[p]);
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    if (values.size() < 5) {
      work()->diagnostics.info("experiment.few_values", place,
                               fmt::format("parameter '{}' has {} distinct values; five or more give reliable models",
                                           e.parameters()[p], values.size()));
    }
  }
  if (const auto parameter = strong_scaling_parameter(e); parameter && e.scaling() != Scaling::strong) {
    work()->diagnostics.info("experiment.strong_scaling", place,
                             fmt::format("values get smaller with '{0}'; --multiply-by {0} models the cost of all",
                                         e.parameters()[*parameter]));
  }
  return {};
}

}  // namespace fathom
