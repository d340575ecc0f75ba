// Values of one metric over groups of contexts and groups of locations: processes, nodes, regions, files.
#pragma once

#include <vector>

#include "profile/compute.hpp"

namespace fathom {

// Which contexts make a row and which locations make a column.
struct Grouping {
  // Empty: every context is a row of its own.
  std::vector<std::vector<ContextId>> rows;
  // Empty: every location is a column of its own.
  std::vector<std::vector<LocationId>> columns;

  // All locations in one column.
  static Grouping over_whole_system(const Definitions& defs);
};

// Stored metrics and pre-derived ones are added up; post-derived ones are evaluated on operands that are added up, so
// that a ratio of a group is the ratio of its sums. `void_values` as in Selection.
Result<Cells> compute_groups(const Profile& profile, MetricId metric, const Flavour& flavour, const Grouping& grouping,
                             bool void_values = false);

// One of several tables over the same locations: a flavour of the metric over groups of contexts.
struct GroupRequest {
  Flavour flavour;
  std::vector<std::vector<ContextId>> rows;  // empty: every context is a row of its own
};
// The same for several of them in the order asked for, from one reading of the values where the metric is stored and
// `column` is one range of locations.
Result<std::vector<Cells>> compute_groups(const Profile& profile, MetricId metric,
                                          const std::vector<GroupRequest>& requests,
                                          const std::vector<LocationId>& column);

// Folds rows and columns of a table over all contexts and all locations.
Cells fold_groups(const Cells& cells, const Grouping& grouping);

}  // namespace fathom
