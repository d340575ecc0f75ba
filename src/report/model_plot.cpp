#include "report/model_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/plot_parts.hpp"

namespace fathom {

namespace {
constexpr std::size_t kMostModels = 6;
}

Result<Figure> plot_models(const Experiment& e, const ModelSet& set, const Predictor& predictor,
                           const std::optional<std::vector<double>>& reach) {
  if (set.models.empty()) return Error::usage("there is no model to draw");
  const std::size_t parameters = e.parameters().size();
  if (parameters == 0 || parameters > 2) {
    return Error::usage(fmt::format("plots have one or two parameters; this experiment has {}", parameters));
  }
  // One metric in one figure: the others have other units.
  const std::uint32_t metric = e.series()[set.models.front().series].metric;
  std::vector<const Model*> models;
  bool other_metrics = false;
  for (const Model& m : set.models) {
    const bool same = e.series()[m.series].metric == metric;
    other_metrics = other_metrics || !same;
    if (same) models.push_back(&m);
  }
  // The largest at the far end.
  std::vector<double> far(parameters, 0);
  for (std::size_t p = 0; p < parameters; ++p) {
    for (const double value : plot::measured_values(e, p)) far[p] = std::max(far[p], value);
    if (reach) far[p] = std::max(far[p], (*reach)[p]);
  }
  const auto size = [&](const Model* m) {
    const double value = m->function(far);
    return std::isfinite(value) ? value : -INFINITY;
  };
  std::stable_sort(models.begin(), models.end(), [&](const Model* a, const Model* b) { return size(a) > size(b); });
  Figure figure;
  if (models.size() > kMostModels) {
    figure.note =
        fmt::format("the figure shows the {} largest of {} models (--callpath chooses)", kMostModels, models.size());
    models.resize(kMostModels);
  }
  if (other_metrics) {
    figure.note += fmt::format("{}the figure shows metric '{}' only (--metric chooses)",
                               figure.note.empty() ? "" : "; ", e.metrics()[metric].name);
  }
  const Measure measure = set.modeler.measure;
  figure.svg =
      parameters == 1 ? plot::curves(e, models, predictor, measure, reach) : plot::heat_maps(e, models, measure, reach);
  return figure;
}

}  // namespace fathom
