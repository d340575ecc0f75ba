#include "report/model_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "report/plot_parts.hpp"

namespace fathom {

namespace {

constexpr std::size_t kMostModels = 6;
constexpr std::size_t kMostSliced = 2;

// Through the smallest, a middle and the largest value of the third parameter; further ones stay at their largest.
std::vector<plot::Plane> slices(const Experiment& e, const std::vector<double>& far) {
  if (e.parameters().size() == 2) return {{far, ""}};
  const std::vector<double> values = plot::measured_values(e, 2);
  std::vector<double> chosen = {values.front(), values[values.size() / 2], values.back()};
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  std::vector<plot::Plane> out;
  for (const double value : chosen) {
    plot::Plane plane{far, ""};
    plane.at[2] = value;
    for (std::size_t p = 2; p < plane.at.size(); ++p) {
      plane.title += fmt::format("{}{} = {:.6g}", plane.title.empty() ? "" : ", ", e.parameters()[p], plane.at[p]);
    }
    out.push_back(std::move(plane));
  }
  return out;
}

Result<plot::Shape> shape_of(const std::string& name, std::size_t parameters) {
  if (!name.empty() && parameters < 2) {
    return Error::usage(fmt::format("'{}' needs two parameters; this experiment has one", name));
  }
  if (name.empty() || name == "map") return plot::Shape::map;
  if (name == "contour") return plot::Shape::contour;
  if (name == "surface") return plot::Shape::surface;
  return Error::usage(fmt::format("'{}' is no kind of plot", name)).hint("there are: map, contour, surface");
}

}  // namespace

Result<Figure> plot_models(const Experiment& e, const ModelSet& set, const Predictor* predictor,
                           const FigureOptions& options) {
  if (set.models.empty()) return Error::usage("there is no model to draw");
  const std::size_t parameters = e.parameters().size();
  if (parameters == 0) return Error::usage("an experiment without parameters cannot be drawn");
  FATHOM_TRY(const plot::Shape shape, shape_of(options.shape, parameters));
  FATHOM_TRY(const Ranking ranking, rank_models(e, set, options.ranking));
  std::map<const Model*, const RankedModel*> ranks;
  for (const RankedModel& r : ranking.models) ranks[r.model] = &r;
  // One metric in one figure: the others have other units.
  const std::uint32_t metric = e.series()[set.models.front().series].metric;
  std::vector<const RankedModel*> models;
  bool other_metrics = false;
  for (const Model& m : set.models) {
    const bool same = e.series()[m.series].metric == metric;
    other_metrics = other_metrics || !same;
    if (same) models.push_back(ranks.at(&m));
  }
  // The largest at the far end.
  std::vector<double> far = ranking.largest;
  plot::Drawing drawing{e, {}, {}, set.modeler.measure, std::nullopt, predictor};
  if (options.reach) {
    drawing.reach = options.ranking.at;
    for (std::size_t p = 0; p < parameters; ++p) far[p] = std::max(far[p], options.ranking.at[p]);
  }
  const auto size = [&](const RankedModel* r) {
    const double value = std::fabs(r->counted()(far));
    return std::isfinite(value) ? value : -INFINITY;
  };
  std::stable_sort(models.begin(), models.end(),
                   [&](const RankedModel* a, const RankedModel* b) { return size(a) > size(b); });
  Figure figure;
  const std::size_t most = parameters > 2 ? kMostSliced : kMostModels;
  if (models.size() > most) {
    figure.note = fmt::format("the figure shows the {} largest of {} models (--callpath chooses)", most, models.size());
    models.resize(most);
  }
  if (other_metrics) {
    figure.note += fmt::format("{}the figure shows metric '{}' only (--metric chooses)",
                               figure.note.empty() ? "" : "; ", e.metrics()[metric].name);
  }
  for (const RankedModel* r : models) {
    Model& drawn = drawing.models.emplace_back(*r->model);
    drawn.function = r->counted();
    drawing.unsure.push_back(r->tamed());
  }
  figure.svg = parameters == 1 ? plot::curves(drawing) : plot::planes(drawing, slices(e, far), shape);
  return figure;
}

}  // namespace fathom
