// Values of derived metrics.
#pragma once

#include "profile/compute.hpp"

namespace fathom::expression {

// The derived metric's program over the selection: post-derived ones on aggregated operands, pre-derived ones per cell.
Result<Cells> evaluate(const Profile& profile, MetricId metric, const Selection& selection);

}  // namespace fathom::expression
