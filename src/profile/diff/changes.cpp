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
  std::optional<Int128> before_exact;
  std::optional<Int128> after_exact;
  std::optional<Int128> by_exact;
};

// The difference of the means, rounded once at the end.
double exact_difference(const BeforeAfter& row) {
  const auto count = [](const std::vector<Int128>& values) { return std::max<Int128>(1, values.size()); };
  const auto sum = [](const std::vector<Int128>& values) {
    return std::accumulate(values.begin(), values.end(), Int128{0});
  };
  const Int128 before = count(row.exact_before);
  const Int128 after = count(row.exact_after);
  return static_cast<double>(sum(row.exact_after) * before - sum(row.exact_before) * after) /
         static_cast<double>(before * after);
}

Change change_of(const BeforeAfter& row) {
  Change out;
  if (!row.before.empty()) out.before = sample_of(row.before).mean;
  if (!row.after.empty()) out.after = sample_of(row.after).mean;
  out.by = out.after.value_or(0) - out.before.value_or(0);
  out.relative = relative_change(out.before.value_or(0), out.after.value_or(0));
  out.significant = is_significant(row.before, row.after);
  const bool exact = row.exact_before.size() == row.before.size() && row.exact_after.size() == row.after.size();
  if (!exact) return out;
  out.by = exact_difference(row);
  if (out.before.value_or(0) != 0) out.relative = out.by / std::abs(*out.before);
  if (row.before.size() > 1 || row.after.size() > 1) return out;
  if (out.before) out.before_exact = row.exact_before[0];
  if (out.after) out.after_exact = row.exact_after[0];
  out.by_exact = out.after_exact.value_or(0) - out.before_exact.value_or(0);
  return out;
}

constexpr ColumnType kExact = ColumnType::int128;

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

const Column& exact_or_rounded(const Table& table, std::string_view name, std::size_t row) {
  const Column& exact = table.column(std::string(name) + "_exact");
  return exact.is_null(row) ? table.column(name) : exact;
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
                       {"significant", ColumnType::boolean},
                       {"before_exact", kExact},
                       {"after_exact", kExact},
                       {"change_exact", kExact}}});
  for (const MetricChanges& metric : changes) {
    std::vector<Change> all;
    for (const BeforeAfter& row : metric.rows) all.push_back(change_of(row));
    std::vector<std::size_t> order(all.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    // What is no number stands in front.
    const auto size = [&](std::size_t i) {
      return std::isnan(all[i].by) ? std::numeric_limits<double>::infinity() : std::abs(all[i].by);
    };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) { return size(x) > size(y); });
    for (const std::size_t i : order) {
      const Change& change = all[i];
      table.row(metric.rows[i].name, metric.metric, metric.unit, change.before, change.after, change.by,
                change.relative, change.significant, change.before_exact, change.after_exact, change.by_exact);
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
                       {"significant", ColumnType::boolean},
                       {"before_exact", kExact},
                       {"after_exact", kExact},
                       {"change_exact", kExact}}});
  for (const MetricChanges& metric : changes) {
    const Change change = change_of(metric.total);
    table.row(metric.metric, metric.unit, change.before, change.after, change.by, change.relative, change.significant,
              change.before_exact, change.after_exact, change.by_exact);
  }
  return std::move(table).finish();
}

}  // namespace fathom
