#include "model/fit.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/cancel.hpp"
#include "base/parallel.hpp"
#include "base/self_profile.hpp"
#include "model/multi.hpp"
#include "model/robust_groups.hpp"
#include "model/robust_table.hpp"
#include "model/single.hpp"

namespace fathom {

namespace {

// Series per parallel task: enough to fill vectors and caches, few enough to spread.
constexpr std::size_t kGrain = 256;
constexpr std::size_t kMultiGrain = 32;

struct Warner {
  const Experiment& experiment;
  const Work& work;

  Result<void> operator()(std::span<const std::string_view> texts) const {
    for (const auto text : std::set<std::string_view>(texts.begin(), texts.end())) {
      const std::string_view id = text == kBelowOne ? "model.no_logarithms" : "model.too_few_points";
      FATHOM_CHECK(work->diagnostics.warn(id, Place::in(experiment.name()), std::string(text)));
    }
    return {};
  }
};

template <class M>
Result<void> run(const M& modeler, std::size_t grain, std::span<const double* const> rows,
                 std::span<const std::uint32_t> owners, std::vector<Model>& models) {
  return parallel_blocks(rows.size(), grain, [&](std::size_t begin, std::size_t end) -> Result<void> {
    std::vector<Model> part(end - begin);
    modeler.fit(rows.subspan(begin, end - begin), part);
    if (cancelled()) return cancelled_error();  // what was fitted since is worth nothing
    for (std::size_t i = begin; i < end; ++i) {
      auto& model = models[owners[i]];
      model = std::move(part[i - begin]);
      model.series = owners[i];
    }
    return {};
  });
}

// The models of all series that the robust modeler can handle.
Result<void> run_robust(const Experiment& experiment, const FitOptions& options, const RobustGroups& groups,
                        std::vector<Model>& models) {
  const auto values = experiment.measure(options.measure);
  for (std::size_t g = 0; g < groups.groups.size(); ++g) {
    const RobustGroup& group = *groups.groups[g];
    const auto& list = groups.series[g];
    const std::size_t grain = group.parameters() == 1 ? kGrain : 4;
    FATHOM_CHECK(parallel_blocks(list.size(), grain, [&](std::size_t begin, std::size_t end) -> Result<void> {
      std::vector<double> predicted;
      for (std::size_t i = begin; i < end; ++i) {
        Model& model = models[list[i]];
        model.series = list[i];
        model.function = function_of(group.best(i), group.level(i));
        model.segment_quality.clear();
        const Series& series = experiment.series()[list[i]];
        const std::size_t points = experiment.points_of(series).size();
        predicted.resize(points);
        for (std::size_t k = 0; k < points; ++k) {
          predicted[k] = model.function(group.coordinates().subspan(k * group.parameters(), group.parameters()));
        }
        std::size_t factors = 0;
        for (const auto& term : model.function.terms) factors += term.factors.size();
        model.quality = in_sample_quality(predicted, values.subspan(series.first, points), factors);
        if (factors == 0) model.quality.ar2 = 1;
      }
      return {};
    }));
  }
  return {};
}

// What the robust modeler falls back to for series that it cannot handle.
FitOptions fallback(const FitOptions& options, std::size_t parameters) {
  FitOptions plain = options;
  plain.modeler = parameters == 1 ? Modeler::basic : Modeler::multi_parameter;
  return plain;
}

// Models of the reference's modelers for all series, or those that `robust` has no group for.
Result<void> run_plain(const Experiment& experiment, const FitOptions& options, const Work& work,
                       const RobustGroups& robust, std::vector<Model>& models) {
  const std::size_t parameters = experiment.parameters().size();
  const auto values = experiment.measure(options.measure);
  std::vector<std::vector<std::uint32_t>> members(experiment.point_sets().size());
  for (std::size_t s = 0; s < experiment.series().size(); ++s) {
    members[experiment.series()[s].point_set].push_back(static_cast<std::uint32_t>(s));
  }
  const Warner warn{experiment, work};
  for (std::size_t p = 0; p < members.size(); ++p) {
    if (members[p].empty()) continue;
    std::vector<double> coordinates;
    for (const auto point : experiment.point_sets()[p]) {
      const auto place = experiment.point(point);
      if (place.size() != parameters) {
        return Error("a measurement point has " + std::to_string(place.size()) + " coordinates for " +
                         std::to_string(parameters) + " parameters",
                     Place::in(experiment.name()));
      }
      coordinates.insert(coordinates.end(), place.begin(), place.end());
    }
    if (coordinates.empty()) continue;
    std::erase_if(members[p], [&](std::uint32_t s) { return robust.has(s); });
    std::vector<const double*> rows;
    for (const auto s : members[p]) rows.push_back(values.data() + experiment.series()[s].first);
    if (parameters == 1) {
      const auto modeler = make_single(options.modeler, options.single, coordinates, 0);
      FATHOM_CHECK(warn(modeler->warnings()));
      FATHOM_CHECK(run(*modeler, kGrain, rows, members[p], models));
    } else {
      const MultiModeler modeler(options, coordinates, parameters);
      FATHOM_CHECK(warn(modeler.warnings()));
      FATHOM_CHECK(run(modeler, kMultiGrain, rows, members[p], models));
    }
  }
  return {};
}

// No function goes through values that are no numbers.
Result<void> report_not_finite(const Experiment& experiment, Measure measure, const Work& work) {
  const auto values = experiment.measure(measure);
  std::uint64_t count = 0;
  const Series* first = nullptr;
  for (const Series& series : experiment.series()) {
    const auto own = values.subspan(series.first, experiment.points_of(series).size());
    if (std::all_of(own.begin(), own.end(), [](double v) { return std::isfinite(v); })) continue;
    if (count++ == 0) first = &series;
  }
  if (first == nullptr) return {};
  return work->diagnostics.add("model.not_finite", Severity::warning, Place::in(experiment.name()),
                               "measurements that are NaN or infinite have no model, first of '" +
                                   experiment.metrics()[first->metric].name + "' of " +
                                   experiment.callpaths()[first->callpath].name,
                               count);
}

// What is kept of all terms at the points of series, by the modeler and for intervals.
std::uint64_t bytes_of_terms(const Experiment& experiment) {
  constexpr std::uint64_t kOfModeler = kMaxBlocks * (sizeof(double) + sizeof(LineWeights));
  constexpr std::uint64_t kOfRobust = 2 * kMaxBlocks * 2 * sizeof(double);  // rising and falling
  if (experiment.parameters().size() != 1) return 0;
  std::set<std::pair<std::uint32_t, std::uint32_t>> groups;
  for (const Series& series : experiment.series()) groups.emplace(series.metric, series.point_set);
  std::uint64_t largest = 0;
  std::uint64_t all = 0;
  for (const auto& [metric, point_set] : groups) {
    const std::uint64_t points = experiment.point_sets()[point_set].size();
    largest = std::max(largest, points);
    all += points;
  }
  return largest * kOfModeler + all * kOfRobust;
}

// Sums over large numbers have no place in a double.
Result<void> report_too_large(const Experiment& experiment, Measure measure, const std::vector<Model>& models,
                              const Work& work) {
  const auto values = experiment.measure(measure);
  std::uint64_t count = 0;
  const Series* first = nullptr;
  for (const Model& model : models) {
    if (std::isfinite(model.function.constant)) continue;
    const Series& series = experiment.series()[model.series];
    const auto own = values.subspan(series.first, experiment.points_of(series).size());
    if (!std::all_of(own.begin(), own.end(), [](double v) { return std::isfinite(v); })) continue;  // told already
    if (count++ == 0) first = &series;
  }
  if (first == nullptr) return {};
  return work->diagnostics.add("model.too_large", Severity::warning, Place::in(experiment.name()),
                               "measurements are too large to be added up and have no model, first of '" +
                                   experiment.metrics()[first->metric].name + "' of " +
                                   experiment.callpaths()[first->callpath].name,
                               count);
}

}  // namespace

Result<ModelSet> fit(const Experiment& experiment, const FitOptions& options, const Work& work) {
  const Phase phase("fit");
  const std::size_t parameters = experiment.parameters().size();
  if (parameters == 0) return Error("the experiment has no parameters", Place::in(experiment.name()));
  FATHOM_CHECK(report_not_finite(experiment, options.measure, work));
  FATHOM_TRY(const auto reserved,
             work->budget.reserve(bytes_of_terms(experiment), "terms at all points of the models"));
  ModelSet set;
  set.modeler = modeler_info(options);
  set.models.resize(experiment.series().size());
  if (options.modeler != Modeler::robust) {
    FATHOM_CHECK(run_plain(experiment, options, work, {}, set.models));
    FATHOM_CHECK(report_too_large(experiment, options.measure, set.models, work));
    return set;
  }
  const RobustGroups groups = make_robust_groups(experiment, options.measure);
  FATHOM_CHECK(run_plain(experiment, fallback(options, parameters), work, groups, set.models));
  FATHOM_CHECK(run_robust(experiment, options, groups, set.models));
  FATHOM_CHECK(report_too_large(experiment, options.measure, set.models, work));
  return set;
}

}  // namespace fathom
