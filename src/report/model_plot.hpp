// Figures of models: points, curves and intervals over one parameter, heat maps over two. Self-contained SVG.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/predict.hpp"

namespace fathom {

struct Figure {
  std::string svg;
  std::string note;  // what was left out, for the user; "" = nothing
};

// One metric, the models with the largest values there, at most six. The band of a curve is its 95 % prediction
// interval: where single runs are expected. `reach`: a point that the axes must include.
Result<Figure> plot_models(const Experiment& experiment, const ModelSet& set, const Predictor& predictor,
                           const std::optional<std::vector<double>>& reach = std::nullopt);

}  // namespace fathom
