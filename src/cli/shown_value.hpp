// A value of a metric for people.
#pragma once

#include <string>

#include "defs/metric.hpp"

namespace fathom::cli {

// As its file wants it, else with a readable unit.
std::string shown_value(double value, const Metric& metric);

}  // namespace fathom::cli
