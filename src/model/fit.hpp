// From an experiment to a performance model for every (call path, metric).
#pragma once

#include "base/work.hpp"
#include "model/model.hpp"
#include "model/options.hpp"

namespace fathom {

// One model per series, in the order of Experiment::series(). Runs on all threads; the result does not depend on their
// number. Warnings (too few points, no logarithms below one) go to work->diagnostics.
Result<ModelSet> fit(const Experiment& experiment, const FitOptions& options, const Work& work);

}  // namespace fathom
