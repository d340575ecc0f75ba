// The metric of an experiment that is meant when none is named.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "experiment/experiment.hpp"

namespace fathom {

// Called so, or with a unit of time.
bool is_time(const Named& metric);

// A minimum or maximum, which is no part of anything.
bool is_extreme(const Named& metric);

// Among these metrics: time where there is one, no minima and maxima; nothing when there is nothing to choose from.
std::optional<std::uint32_t> usual_metric(const Experiment& experiment, const std::vector<std::uint32_t>& metrics);

}  // namespace fathom
