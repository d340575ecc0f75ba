// Everything that a trace and a profile name.
#pragma once

#include <string>
#include <vector>

#include "defs/attributes.hpp"
#include "defs/context_tree.hpp"
#include "defs/metric_list.hpp"
#include "defs/region.hpp"
#include "defs/system_tree.hpp"

namespace fathom {

// How call paths are joined for reading.
inline constexpr const char* kPathSeparator = "->";

// MT: safe (const).
struct Definitions {
  MetricList metrics;  // parents before children
  std::vector<Region> regions;
  ContextTree contexts;
  SystemTree system;
  Attributes attributes;             // of the whole dataset
  std::vector<std::string> mirrors;  // base addresses for "@mirror@" in urls

  [[nodiscard]] const Metric& metric(MetricId id) const { return metrics[id.index()]; }
  [[nodiscard]] const Region& region(RegionId id) const { return regions[id.index()]; }
  [[nodiscard]] const Region& region_of(ContextId id) const { return region(contexts[id].region); }
  [[nodiscard]] MetricId find_metric(std::string_view name) const { return metrics.find(name); }
  [[nodiscard]] std::vector<MetricId> metric_children(MetricId id) const;
  [[nodiscard]] std::vector<std::string> metric_names() const;
  // The region's name and the parameters that this call path was called with: "solve (size=10)".
  [[nodiscard]] std::string context_name(ContextId id) const;
  // Names of contexts from the root down, joined for reading.
  [[nodiscard]] std::string path(ContextId id) const;
};

}  // namespace fathom
