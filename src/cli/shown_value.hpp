// A value of a metric for people.
#pragma once

#include <string>

#include "defs/metric.hpp"
#include "profile/value.hpp"

namespace fathom::cli {

// As its file wants it, else with a readable unit.
std::string shown_value(double value, const Metric& metric);
// The first column of a row; "-" where that is the extreme of nothing.
std::string shown_value(const Cells& cells, std::size_t row, const Metric& metric);

}  // namespace fathom::cli
