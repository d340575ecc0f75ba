// How values spread over locations, or over the parts of the system tree.
#pragma once

#include <span>
#include <vector>

#include "profile/compute.hpp"

namespace fathom {

struct Statistics {
  std::size_t count = 0;
  double sum = 0;
  double mean = 0;
  double minimum = 0;
  double maximum = 0;
  double median = 0;
  double quartile_1 = 0;
  double quartile_3 = 0;
  double deviation = 0;  // standard deviation of the whole population
  double variance = 0;   // sample variance (n - 1)
  // (maximum - mean) / maximum: the share of the slowest one's time that others wait; 0 when the maximum is 0.
  double imbalance = 0;
  std::size_t at_minimum = 0;  // index of the first value that is the minimum, maximum
  std::size_t at_maximum = 0;
};

// NaNs are left out. Quantiles interpolate between the two nearest values.
Statistics statistics_of(std::span<const double> values);

// One row of statistics per context asked for (empty: all), over the given locations. Where a value is no number, sum,
// mean and what is made of them are none; the others are those of the numbers.
Result<std::vector<Statistics>> location_statistics(const Profile& profile, MetricId metric, const Flavour& flavour,
                                                    const std::vector<ContextId>& contexts, IndexRange locations);

// The locations below a node of the system tree; of a location: itself.
std::vector<LocationId> locations_below(const SystemTree& system, SystemNodeId node);
// Of each node, in one pass however many they are.
std::vector<std::vector<LocationId>> locations_below(const SystemTree& system, const std::vector<SystemNodeId>& nodes);
// All nodes of one kind ("process", "node", ...: the type, ignoring case) or one SystemKind.
std::vector<SystemNodeId> system_nodes(const SystemTree& system, SystemKind kind);
std::vector<SystemNodeId> system_nodes(const SystemTree& system, std::string_view type);

// Rows: the contexts (empty: all); columns: the sums over each of the system nodes.
Result<Cells> sums_over_system(const Profile& profile, MetricId metric, const Flavour& flavour,
                               const std::vector<ContextId>& contexts, const std::vector<SystemNodeId>& nodes);

}  // namespace fathom
