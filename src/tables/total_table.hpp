// Values of contexts with all locations together: what rankings and trees are made from.
#pragma once

#include <memory>
#include <vector>

#include "base/table.hpp"
#include "profile/profile.hpp"

namespace fathom {

// metric, context, exclusive, inclusive; one part per metric. Contexts that have neither are left out.
Result<std::unique_ptr<TableSource>> total_table(ProfilePtr profile, std::vector<MetricId> metrics,
                                                 std::vector<LocationId> locations);

}  // namespace fathom
