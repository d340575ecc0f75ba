// The values of a profile as a table: one row per metric, context and location that has one.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/table.hpp"
#include "profile/compute.hpp"
#include "profile/system_groups.hpp"

namespace fathom {

struct ValueChoice {
  std::vector<MetricId> metrics;
  std::optional<std::vector<ContextId>> contexts;  // ascending; nothing = all
  std::vector<LocationId> locations;               // ascending
  std::vector<SystemGroup> groups = {};            // these together instead of each location, under their names
  Flavour flavour;
  bool metric_exclusive = false;  // without what the metrics below a metric have
  bool total = false;             // one row per metric: the roots, or `contexts`, and all locations together
  bool zeros = false;             // also values that are zero or absent
  bool values = true;
  bool statistics = false;  // after the values: the statistics that the file stores
};

// Columns metric, context, path, location, value; context and location are those that the file uses. Values are exact:
// the value column of a batch is of integers, doubles, or texts (components joined with ';') as its metric is. A part
// is a block of values of one metric that is computed at once and bounded in memory.
std::unique_ptr<TableSource> value_table(ProfilePtr profile, ValueChoice choice);

}  // namespace fathom
