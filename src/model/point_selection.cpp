// The series along one parameter from which its single-parameter model is made.
#include <algorithm>
#include <limits>
#include <map>

#include "model/multi.hpp"

namespace fathom {

namespace {

using Tuple = std::vector<double>;

struct Line {
  Tuple rest;  // the other coordinates
  std::vector<std::uint32_t> rows;
};

Tuple rest_of(std::span<const double> point, std::size_t parameter) {
  Tuple rest;
  for (std::size_t p = 0; p < point.size(); ++p) {
    if (p != parameter) rest.push_back(point[p]);
  }
  return rest;
}

// All lines of maximum length, averaged over those that the first coordinate has.
ParameterSeries longest_lines(std::span<const double> coordinates, std::size_t parameters, std::size_t parameter) {
  const std::size_t points = coordinates.size() / parameters;
  std::vector<Line> lines;
  std::map<Tuple, std::size_t> known;
  for (std::size_t k = 0; k < points; ++k) {
    Tuple rest = rest_of(coordinates.subspan(k * parameters, parameters), parameter);
    const auto [found, added] = known.emplace(rest, lines.size());
    if (added) lines.push_back({std::move(rest), {}});
    lines[found->second].rows.push_back(static_cast<std::uint32_t>(k));
  }
  std::size_t longest = 0;
  std::size_t shortest = std::numeric_limits<std::size_t>::max();
  for (const auto& line : lines) {
    longest = std::max(longest, line.rows.size());
    shortest = std::min(shortest, line.rows.size());
  }
  ParameterSeries series;
  series.incomplete = shortest != longest;
  std::map<double, std::size_t> positions;
  std::vector<std::vector<std::size_t>> line_of;  // beside series.rows
  for (std::size_t l = 0; l < lines.size(); ++l) {
    if (lines[l].rows.size() != longest) continue;
    for (const auto row : lines[l].rows) {
      const double x = coordinates[row * parameters + parameter];
      const auto [found, added] = positions.emplace(x, series.x.size());
      if (added) {
        series.x.push_back(x);
        series.rows.emplace_back();
        line_of.emplace_back();
      }
      series.rows[found->second].push_back(row);
      line_of[found->second].push_back(l);
    }
  }
  // Only lines that are there at the first coordinate count.
  std::vector<bool> common(lines.size(), false);
  if (!line_of.empty()) {
    for (const auto l : line_of.front()) common[l] = true;
  }
  ParameterSeries kept;
  kept.incomplete = series.incomplete;
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    std::vector<std::uint32_t> rows;
    for (std::size_t j = 0; j < series.rows[i].size(); ++j) {
      if (common[line_of[i][j]]) rows.push_back(series.rows[i][j]);
    }
    if (rows.empty()) continue;
    kept.x.push_back(series.x[i]);
    kept.rows.push_back(std::move(rows));
  }
  return kept;
}

// The line at the smallest values of the other parameters.
ParameterSeries smallest_line(std::span<const double> coordinates, std::size_t parameters, std::size_t parameter) {
  ParameterSeries series;
  Tuple minimum(parameters - 1, std::numeric_limits<double>::infinity());
  for (std::size_t k = 0; k < coordinates.size() / parameters; ++k) {
    Tuple rest = rest_of(coordinates.subspan(k * parameters, parameters), parameter);
    if (rest != minimum) {
      bool below = true;
      for (std::size_t p = 0; p < rest.size(); ++p) below = below && rest[p] <= minimum[p];
      if (!below) continue;
      series.x.clear();
      series.rows.clear();
      minimum = std::move(rest);
    }
    series.x.push_back(coordinates[k * parameters + parameter]);
    series.rows.push_back({static_cast<std::uint32_t>(k)});
  }
  return series;
}

}  // namespace

ParameterSeries select_series(std::span<const double> coordinates, std::size_t parameters, std::size_t parameter,
                              PointSelection selection) {
  if (selection == PointSelection::smallest) return smallest_line(coordinates, parameters, parameter);
  return longest_lines(coordinates, parameters, parameter);
}

}  // namespace fathom
