// The values of a profile as a table for engines: metric, context, location, value.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/table.hpp"
#include "profile/compute.hpp"

namespace fathom {

struct ValueBounds {
  std::vector<MetricId> metrics;
  std::optional<std::vector<ContextId>> contexts;  // ascending; nothing = all
  std::vector<LocationId> locations;               // ascending
  bool all_locations = true;                       // no bound on them: columns of classic XML are shown, too
  Flavour flavour;
};

// Rows whose value is zero or absent are left out. Flavours that are stored are scanned as sparse runs, all metrics of
// a piece at once; the others are computed block by block. Composite values show their scalar. Several parts, each
// bounded in memory.
Result<std::unique_ptr<TableSource>> value_scan(ProfilePtr profile, ValueBounds bounds);

}  // namespace fathom
