// What changed, as a table: one row per thing and metric, whatever the things are (regions, call paths, measurements).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/table.hpp"

namespace fathom {

// One number per repetition; none = it was not there.
struct BeforeAfter {
  std::string name;
  std::vector<double> before;
  std::vector<double> after;
  // The same without rounding where values are integers: as many, or none.
  std::vector<Int128> exact_before = {};
  std::vector<Int128> exact_after = {};
};

struct MetricChanges {
  std::string metric;
  std::string unit;
  BeforeAfter total;
  std::vector<BeforeAfter> rows;
};

// Whether means differ beyond the scatter of the repetitions, at a level of 5 %: Welch's t-test; with one side measured
// once, whether it lies in the prediction interval of the other. Nothing without repetitions on either side.
std::optional<bool> is_significant(std::span<const double> before, std::span<const double> after);

// Rows with the largest change of a metric first. Columns: path, metric, unit, before, after, change, relative (of
// before; infinite where something came from nothing), significant. Missing before or after: not there. Then
// before_exact, after_exact and change_exact, which have values where integers were measured once on every side that
// there is: counters of 64 bits do not fit a double.
Table changes_table(const std::vector<MetricChanges>& changes);
// The same of the totals: metric, unit, before, after, change, relative, significant.
Table totals_table(const std::vector<MetricChanges>& changes);

// Of one of the two tables: the column before_exact, after_exact or change_exact where it has a value in the row, else
// before, after or change.
const Column& exact_or_rounded(const Table& table, std::string_view name, std::size_t row);

// (after - before) / |before|; infinite when something came from nothing.
double relative_change(double before, double after);

}  // namespace fathom
