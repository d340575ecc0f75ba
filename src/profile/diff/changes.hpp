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
// before; infinite where something came from nothing), significant. Missing before or after: not there.
Table changes_table(const std::vector<MetricChanges>& changes);
// The same of the totals: metric, unit, before, after, change, relative, significant.
Table totals_table(const std::vector<MetricChanges>& changes);

// (after - before) / |before|; infinite when something came from nothing.
double relative_change(double before, double after);

}  // namespace fathom
