// What happens to the values of runs before they become an experiment.
#pragma once

#include "experiment/collect.hpp"

namespace fathom {

// An error when runs at one point have different numbers of locations. Runs are in order of their points.
Result<void> same_locations(const std::vector<RunAtPoint>& runs);

// Two contexts that are one call path: location by location, or, where not every location has a value, side by side.
void add_values(RunValues& to, const RunValues& from);

// Adds values of call paths that do not occur at every point to the nearest call path above that does; where values are
// inclusive they are part of that already. With parameters of call paths, every point is every run with each of the
// values that the call path has.
void merge_missing(std::vector<RunAtPoint>& runs, const CollectOptions& options);

// Removes call paths that are small at every point.
Result<void> drop_small(std::vector<RunAtPoint>& runs, const SmallKernels& small, const CollectOptions& options);

}  // namespace fathom
