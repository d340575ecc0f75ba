// Values of derived metrics.
#pragma once

#include "profile/aggregate.hpp"
#include "profile/compute.hpp"

namespace fathom::expression {

// The derived metric's program over the selection: post-derived ones on aggregated operands, pre-derived ones per cell.
Result<Cells> evaluate(const Profile& profile, MetricId metric, const Selection& selection);

// The same over groups of contexts and locations: operands of post-derived metrics are combined first, values of
// pre-derived ones afterwards, with the program's own operators where it has them.
Result<Cells> evaluate_groups(const Profile& profile, MetricId metric, const Flavour& flavour,
                              const Grouping& grouping);

// Is the metric void: declared so, or switched off by an expression (of it or of a metric above it)?
Result<bool> switched_off(const Profile& profile, MetricId metric);

// Chains of derived metrics may be this long, and one value may need this many evaluations.
inline constexpr std::size_t kMaxChain = 64;
inline constexpr std::size_t kMaxEvaluations = 10'000;

}  // namespace fathom::expression
