// What the repetitions of all call paths together say about the noise.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/robust_table.hpp"

namespace fathom {

// Repetitions of series that share their points.
struct Repetitions {
  std::size_t series = 0;
  std::size_t pooled = 0;  // the first so many speak for the noise of all
  std::size_t points = 0;
  std::vector<double> values;
  std::vector<std::uint64_t> begin{0};  // of each (series, point); one more at the end

  [[nodiscard]] std::span<const double> at(std::size_t s, std::size_t k) const {
    const std::size_t i = s * points + k;
    return {values.data() + begin[i], values.data() + begin[i + 1]};
  }
  void append(std::span<const double> repetitions) {
    values.insert(values.end(), repetitions.begin(), repetitions.end());
    begin.push_back(values.size());
  }
};

// The figure of a point's repetitions that is modelled.
enum class Statistic : std::uint8_t { safe_mean, median, minimum, midrange, lower_half };

// Values to model and their noise.
struct Located {
  std::size_t points = 0;
  std::vector<double> v;     // series x points
  std::vector<double> tau2;  // per series: relative variance of one point's value; 0 without repetitions
  std::vector<double> df;    // its degrees of freedom
  double repetitions = 1;    // on average
  [[nodiscard]] std::span<const double> of(std::size_t s) const { return {v.data() + s * points, points}; }
};

// The mean without what lies far off.
Located safe_means(const Repetitions& data);
void apply_statistic(const Repetitions& data, Statistic statistic, Located& located);

// A line: points of a series along one parameter.
struct LineOfPoints {
  const RelativeTable* table;
  std::vector<std::uint32_t> rows;
};
// The statistic whose values follow the terms most closely; safe mean unless another is clearly better.
Statistic choose_statistic(const Repetitions& data, const Located& safe, std::span<const LineOfPoints> lines);

// By how much the values of a statistic lie below the mean (logarithm), per series, and the variance of that.
struct MeanLevel {
  std::vector<double> log_ratio;
  std::vector<double> variance;
};
MeanLevel mean_level(const Repetitions& data, const Located& located);

// Prior for the variance of a series from those of all: d0 degrees of freedom around s02.
struct Prior {
  double d0 = 0;
  double s02 = 0;
};
Prior pooled_prior(std::span<const double> variances, std::span<const double> degrees, double most);

// Smallest residual variance over all one-term functions, as the choice of statistic and the dispersion look at it.
double residual_variance(const RelativeFits& fits, std::size_t blocks, double n);

double quantile_of(std::vector<double> values, double share);

}  // namespace fathom
