#include "profile/diff/changes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/special.hpp"

namespace fathom {

namespace {

constexpr double kLevel = 0.05;

struct Sample {
  double count = 0;
  double mean = 0;
  double variance = 0;  // n - 1
};

Sample sample_of(std::span<const double> values) {
  Sample out;
  out.count = static_cast<double>(values.size());
  if (values.empty()) return out;
  out.mean = std::accumulate(values.begin(), values.end(), 0.0) / out.count;
  for (const double value : values) out.variance += (value - out.mean) * (value - out.mean);
  if (values.size() > 1) out.variance /= out.count - 1;
  return out;
}

struct Change {
  std::optional<double> before;
  std::optional<double> after;
  double by = 0;
  double relative = 0;
  std::optional<bool> significant;
};

Change change_of(const BeforeAfter& row) {
  Change out;
  if (!row.before.empty()) out.before = sample_of(row.before).mean;
  if (!row.after.empty()) out.after = sample_of(row.after).mean;
  out.by = out.after.value_or(0) - out.before.value_or(0);
  out.relative = relative_change(out.before.value_or(0), out.after.value_or(0));
  out.significant = is_significant(row.before, row.after);
  return out;
}

}  // namespace

std::optional<bool> is_significant(std::span<const double> before, std::span<const double> after) {
  const Sample a = sample_of(before);
  const Sample b = sample_of(after);
  if (a.count == 0 || b.count == 0 || (a.count < 2 && b.count < 2)) return std::nullopt;
  double variance = 0;
  double degrees = 0;
  if (a.count >= 2 && b.count >= 2) {
    const double of_a = a.variance / a.count;
    const double of_b = b.variance / b.count;
    variance = of_a + of_b;
    degrees = variance * variance / (of_a * of_a / (a.count - 1) + of_b * of_b / (b.count - 1));
  } else {
    const Sample& repeated = a.count >= 2 ? a : b;
    variance = repeated.variance * (1 + 1 / repeated.count);
    degrees = repeated.count - 1;
  }
  // Repetitions that agree to the last bit leave no doubt.
  if (!(variance > 0)) return a.mean != b.mean;
  const double t = std::abs(b.mean - a.mean) / std::sqrt(variance);
  return 2 * (1 - StudentDistribution(degrees).cdf(t)) < kLevel;
}

double relative_change(double before, double after) {
  if (before == after) return 0;
  if (before == 0) return std::copysign(std::numeric_limits<double>::infinity(), after);
  return (after - before) / std::abs(before);
}

Table changes_table(const std::vector<MetricChanges>& changes) {
  TableBuilder table({"changes",
                      {{"path", ColumnType::text},
                       {"metric", ColumnType::text},
                       {"unit", ColumnType::text},
                       {"before", ColumnType::float64},
                       {"after", ColumnType::float64},
                       {"change", ColumnType::float64},
                       {"relative", ColumnType::float64},
                       {"significant", ColumnType::boolean}}});
  for (const MetricChanges& metric : changes) {
    std::vector<Change> all;
    for (const BeforeAfter& row : metric.rows) all.push_back(change_of(row));
    std::vector<std::size_t> order(all.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t x, std::size_t y) { return std::abs(all[x].by) > std::abs(all[y].by); });
    for (const std::size_t i : order) {
      const Change& change = all[i];
      table.row(metric.rows[i].name, metric.metric, metric.unit, change.before, change.after, change.by,
                change.relative, change.significant);
    }
  }
  return std::move(table).finish();
}

Table totals_table(const std::vector<MetricChanges>& changes) {
  TableBuilder table({"totals",
                      {{"metric", ColumnType::text},
                       {"unit", ColumnType::text},
                       {"before", ColumnType::float64},
                       {"after", ColumnType::float64},
                       {"change", ColumnType::float64},
                       {"relative", ColumnType::float64},
                       {"significant", ColumnType::boolean}}});
  for (const MetricChanges& metric : changes) {
    const Change change = change_of(metric.total);
    table.row(metric.metric, metric.unit, change.before, change.after, change.by, change.relative, change.significant);
  }
  return std::move(table).finish();
}

}  // namespace fathom
