// Two experiments compared: every measurement that both have, by call path and point.
#pragma once

#include "experiment/experiment.hpp"
#include "profile/diff/changes.hpp"

namespace fathom {

// The metric of that name. Rows are call paths at points ("main->f at p=4, n=10"); repetitions are those of the
// measurements. The total is the sum over call paths at all points that both have.
Result<MetricChanges> diff(const Experiment& before, const Experiment& after, const std::string& metric);

}  // namespace fathom
