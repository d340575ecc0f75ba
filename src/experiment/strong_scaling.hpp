// Strong scaling: measurements that get smaller with a parameter, and how to model them.
#pragma once

#include <optional>

#include "experiment/experiment.hpp"

namespace fathom {

// For each parameter the number of metrics whose total gets strictly smaller along the longest line of points in that
// parameter. `time` alone is looked at when there is such a metric.
std::vector<std::uint32_t> shrinking_metrics(const Experiment& experiment);
// The parameter with which most metrics shrink; nothing when none does.
std::optional<std::uint32_t> strong_scaling_parameter(const Experiment& experiment);

// Every value times the parameter's value at its point (time per process becomes time of all processes); the scaling is
// then `strong`.
Result<ExperimentPtr> multiplied_by(const Experiment& experiment, std::uint32_t parameter, const Work& work);

}  // namespace fathom
