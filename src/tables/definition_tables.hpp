// Tables of what traces and profiles name: metric, region, context, location.
#pragma once

#include <memory>
#include <set>

#include "base/table.hpp"
#include "defs/definitions.hpp"

namespace fathom {

using DefinitionsPtr = std::shared_ptr<const Definitions>;

// `aggregates`: pre-derived metrics that say themselves how locations are put together.
std::unique_ptr<TableSource> metric_table(const Definitions& defs, const std::set<MetricId>& aggregates = {});
std::unique_ptr<TableSource> region_table(const Definitions& defs);
std::unique_ptr<TableSource> location_table(const Definitions& defs);
// In parts: paths are made as they are asked for.
std::unique_ptr<TableSource> context_table(DefinitionsPtr defs);

}  // namespace fathom
