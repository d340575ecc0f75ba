// Statistics of a metric over the locations of each cell: how many have a value, the lowest, the highest, the sum of
// squares.
#pragma once

#include "profile/aggregate.hpp"
#include "profile/expression/program.hpp"

namespace fathom::expression {

// Locations are read some at a time, so that memory is in proportion to the rows. Not for Over::sum.
Result<Cells> fold_locations(const Profile& profile, MetricId metric, const Flavour& flavour, const Grouping& grouping,
                             Over over);

// True when values of this metric, or of one that it is derived from, are such statistics: they say something about
// several locations, little about one.
bool is_over_locations(const Profile& profile, MetricId metric);

}  // namespace fathom::expression
