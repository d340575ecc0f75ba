// Figures of models: points and curves over one parameter, a heat map over two. Self-contained SVG.
#pragma once

#include <string>

#include "base/result.hpp"
#include "model/model.hpp"

namespace fathom {

// Up to six models are drawn; narrow the set down first for more than that.
Result<std::string> plot_models(const Experiment& experiment, const ModelSet& set);

}  // namespace fathom
