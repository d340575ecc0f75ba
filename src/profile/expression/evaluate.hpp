// Values of derived metrics.
#pragma once

#include "profile/aggregate.hpp"
#include "profile/compute.hpp"

namespace fathom::expression {

// The derived metric's program over the selection: post-derived ones on aggregated operands, pre-derived ones per cell.
Result<Cells> evaluate(const Profile& profile, MetricId metric, const Selection& selection);

// A post-derived metric's program on operands that are combined over groups of contexts and locations.
Result<Cells> evaluate_groups(const Profile& profile, MetricId metric, const Flavour& flavour,
                              const Grouping& grouping);

// Chains of derived metrics may be this long, and one value may need this many evaluations.
inline constexpr std::size_t kMaxChain = 64;
inline constexpr std::size_t kMaxEvaluations = 10'000;

}  // namespace fathom::expression
