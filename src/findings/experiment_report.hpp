// Findings of experiments: call paths that will dominate or break at the target scale.
#pragma once

#include "experiment/experiment.hpp"
#include "findings/finding.hpp"

namespace fathom {

// Fits models and judges them; the target is far beyond the largest measured scale. Everything but path and format.
Result<Report> experiment_report(const Experiment& experiment, const Work& work);

}  // namespace fathom
