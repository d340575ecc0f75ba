#include "profile/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.hpp"
#include "profile/absent.hpp"
#include "profile/aggregate.hpp"

namespace fathom {

namespace {

double quantile(const std::vector<double>& sorted, double q) {
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(position);
  if (low + 1 >= sorted.size()) return sorted.back();
  const double part = position - static_cast<double>(low);
  return part == 0 ? sorted[low] : sorted[low] + part * (sorted[low + 1] - sorted[low]);
}

}  // namespace

Statistics statistics_of(std::span<const double> values) {
  Statistics out;
  std::vector<double> sorted;
  sorted.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = values[i];
    if (std::isnan(value)) continue;
    if (sorted.empty() || value < out.minimum) {
      out.minimum = value;
      out.at_minimum = i;
    }
    if (sorted.empty() || value > out.maximum) {
      out.maximum = value;
      out.at_maximum = i;
    }
    out.sum += value;
    sorted.push_back(value);
  }
  out.count = sorted.size();
  if (sorted.empty()) return out;
  const auto n = static_cast<double>(out.count);
  out.mean = out.sum / n;
  double squares = 0;
  for (const double value : sorted) squares += (value - out.mean) * (value - out.mean);
  out.deviation = std::sqrt(squares / n);
  out.variance = out.count > 1 ? squares / (n - 1) : 0;
  std::sort(sorted.begin(), sorted.end());
  out.quartile_1 = quantile(sorted, 0.25);
  out.median = quantile(sorted, 0.5);
  out.quartile_3 = quantile(sorted, 0.75);
  out.imbalance = out.maximum == 0 ? 0 : (out.maximum - out.mean) / out.maximum;
  return out;
}

Result<std::vector<Statistics>> location_statistics(const Profile& profile, MetricId metric, const Flavour& flavour,
                                                    const std::vector<ContextId>& contexts, IndexRange locations) {
  FATHOM_TRY(const Cells cells, compute(profile, metric, {flavour, contexts, locations, false}));
  std::vector<Statistics> out(cells.rows());
  std::vector<double> row(cells.columns());
  for (std::size_t i = 0; i < cells.rows(); ++i) {
    bool unknown = false;  // a value that is there, but no number
    for (std::size_t k = 0; k < row.size(); ++k) {
      const bool there = has_value(cells, i, k);
      row[k] = there ? cells.scalar(i, k) : std::numeric_limits<double>::quiet_NaN();
      unknown = unknown || (there && std::isnan(row[k]));
    }
    out[i] = statistics_of(row);
    if (!unknown) continue;
    for (double* of_all : {&out[i].sum, &out[i].mean, &out[i].deviation, &out[i].variance, &out[i].imbalance}) {
      *of_all = std::numeric_limits<double>::quiet_NaN();
    }
  }
  return out;
}

std::vector<LocationId> locations_below(const SystemTree& system, SystemNodeId node) {
  std::vector<bool> below(system.nodes.size(), false);
  std::vector<LocationId> out;
  for (std::size_t i = node.index(); i < system.nodes.size(); ++i) {
    const SystemNode& at = system.nodes[i];
    below[i] = i == node.index() || (at.parent.valid() && below[at.parent.index()]);
    if (below[i] && at.location.valid()) out.push_back(at.location);
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::vector<LocationId>> locations_below(const SystemTree& system, const std::vector<SystemNodeId>& nodes) {
  std::vector<std::vector<LocationId>> out(nodes.size());
  std::vector<std::size_t> first(system.nodes.size(), nodes.size());  // where a node is asked for
  for (std::size_t i = nodes.size(); i-- > 0;) first[nodes[i].index()] = i;
  for (std::size_t l = 0; l < system.location_count(); ++l) {
    for (SystemNodeId at = system.locations[l]; at.valid(); at = system.nodes[at.index()].parent) {
      if (first[at.index()] < nodes.size()) out[first[at.index()]].emplace_back(l);
    }
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (const std::size_t same = first[nodes[i].index()]; same != i) out[i] = out[same];
  }
  return out;
}

std::vector<SystemNodeId> system_nodes(const SystemTree& system, SystemKind kind) {
  std::vector<SystemNodeId> out;
  for (std::size_t i = 0; i < system.nodes.size(); ++i) {
    if (system.nodes[i].kind == kind) out.emplace_back(i);
  }
  return out;
}

std::vector<SystemNodeId> system_nodes(const SystemTree& system, std::string_view type) {
  std::vector<SystemNodeId> out;
  for (std::size_t i = 0; i < system.nodes.size(); ++i) {
    if (equal_ignoring_case(system.nodes[i].type, type)) out.emplace_back(i);
  }
  return out;
}

Result<Cells> sums_over_system(const Profile& profile, MetricId metric, const Flavour& flavour,
                               const std::vector<ContextId>& contexts, const std::vector<SystemNodeId>& nodes) {
  Grouping grouping;
  for (const ContextId id : contexts) grouping.rows.push_back({id});
  grouping.columns = locations_below(profile.defs().system, nodes);
  if (nodes.empty())
    return Cells(profile.defs().metric(metric).type, row_count(profile, {flavour, contexts, {}, false}), 0);
  return compute_groups(profile, metric, flavour, grouping);
}

}  // namespace fathom
