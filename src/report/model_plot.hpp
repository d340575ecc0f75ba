// Figures of models: points, curves and intervals over one parameter; maps, contours or landscapes over two, and slices
// of more. Self-contained SVG.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/predict.hpp"
#include "model/ranking.hpp"

namespace fathom {

struct Figure {
  std::string svg;
  std::string note;  // what was left out, for the user; "" = nothing
};

struct FigureOptions {
  RankingOptions ranking;  // as of the table beside it: growth that does not count there is not drawn
  bool reach = false;      // the axes include ranking.at
  std::string shape;       // of two and more parameters: "map" (""), "contour" or "surface"
};

// One metric, the models with the largest values there, at most six. The band of a curve is its 95 % prediction
// interval: where single runs are expected; without a predictor there is none.
Result<Figure> plot_models(const Experiment& experiment, const ModelSet& set, const Predictor* predictor,
                           const FigureOptions& options = {});

}  // namespace fathom
