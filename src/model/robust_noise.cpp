#include "model/robust_noise.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/median.hpp"
#include "base/parallel.hpp"
#include "base/special.hpp"

namespace fathom {

namespace {

constexpr double kMadToDeviation = 1.4826;
constexpr double kSmallestDeviation = 1e-13;
constexpr double kFullWeight = 4;  // in standard deviations; no weight from kNoWeight on
constexpr double kNoWeight = 6;
constexpr std::size_t kEnoughLines = 20;
constexpr std::size_t kMostLines = 300;
constexpr double kClip = 6;
constexpr double kClearGain = -0.1;
constexpr std::size_t kSeriesPerTask = 64;
constexpr std::size_t kLinesPerTask = 16;

double deviation_of(std::span<double> deviations, double repetitions) {
  const double bias = repetitions > 1 ? std::sqrt(repetitions / (repetitions - 1)) : 1;
  return kMadToDeviation * median_in_place(deviations) * bias;
}

}  // namespace

double quantile_of(std::vector<double> values, double share) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(values.begin(), values.end());
  const double place = share * static_cast<double>(values.size() - 1);
  const auto low = static_cast<std::size_t>(place);
  const std::size_t high = std::min(low + 1, values.size() - 1);
  return values[low] + (place - static_cast<double>(low)) * (values[high] - values[low]);
}

Located safe_means(const Repetitions& data) {
  Located out;
  out.points = data.points;
  out.v.resize(data.series * data.points);
  out.tau2.assign(data.series, 0);
  out.df.assign(data.series, 0);
  std::vector<double> medians(data.series * data.points);
  std::vector<double> point_scale(data.series * data.points);
  std::vector<double> series_scale(data.series);
  const auto scatter = [&](std::size_t s) {
    static thread_local std::vector<double> scratch;
    static thread_local std::vector<double> deviations;
    deviations.clear();
    double repetitions = 0;
    for (std::size_t k = 0; k < data.points; ++k) {
      const auto y = data.at(s, k);
      scratch.assign(y.begin(), y.end());
      const double m = median_in_place(scratch);
      for (std::size_t r = 0; r < y.size(); ++r) scratch[r] = std::fabs(y[r] / m - 1);
      deviations.insert(deviations.end(), scratch.begin(), scratch.end());
      repetitions += static_cast<double>(y.size());
      medians[s * data.points + k] = m;
      point_scale[s * data.points + k] = deviation_of(scratch, static_cast<double>(y.size()));
    }
    series_scale[s] = deviation_of(deviations, repetitions / static_cast<double>(data.points));
  };
  const auto for_all = [&](const auto& work) {
    (void)parallel_blocks(data.series, kSeriesPerTask, [&](std::size_t begin, std::size_t end) -> Result<void> {
      for (std::size_t s = begin; s < end; ++s) work(s);
      return {};
    });
  };
  for_all(scatter);
  const double common =
      median_of({series_scale.begin(), series_scale.begin() + static_cast<std::ptrdiff_t>(data.pooled)});
  for_all([&](std::size_t s) {
    double weights = 0;
    double squares = 0;
    double count = 0;
    for (std::size_t k = 0; k < data.points; ++k) {
      const auto y = data.at(s, k);
      const double scale = std::max({series_scale[s], common, point_scale[s * data.points + k], kSmallestDeviation});
      double v = medians[s * data.points + k];
      double weight_sum = 0;
      double square_sum = 0;
      const auto weight_of = [&](double value, double at) {
        return std::clamp((kNoWeight - std::fabs(value / at - 1) / scale) / (kNoWeight - kFullWeight), 0.0, 1.0);
      };
      // Mostly nothing lies far off, also not the smallest and the largest: then all weights are one.
      const auto [low, high] = std::minmax_element(y.begin(), y.end());
      const auto all_near = [&](double at) {
        return std::fabs(*low / at - 1) / scale <= kFullWeight && std::fabs(*high / at - 1) / scale <= kFullWeight;
      };
      for (int round = 0; round < 2; ++round) {
        double sum = 0;
        weight_sum = 0;
        if (all_near(v)) {
          for (const double value : y) sum += value;
          weight_sum = static_cast<double>(y.size());
        } else {
          for (const double value : y) {
            const double w = weight_of(value, v);
            sum += w * value;
            weight_sum += w;
          }
        }
        if (weight_sum > 0) v = sum / weight_sum;
      }
      weight_sum = 0;
      const bool all = all_near(v);
      for (const double value : y) {
        const double w = all ? 1 : weight_of(value, v);
        weight_sum += w;
        square_sum += w * (value / v - 1) * (value / v - 1);
      }
      out.v[s * data.points + k] = v;
      weights += weight_sum;
      squares += square_sum;
      count += static_cast<double>(y.size());
    }
    const auto n = static_cast<double>(data.points);
    const double repetitions = count / n;
    if (count > n) {
      out.tau2[s] = squares / std::max(weights - n, 1.0) / repetitions;
      out.df[s] = count - n;
    }
  });
  if (data.series > 0) {
    out.repetitions = static_cast<double>(data.values.size()) / static_cast<double>(data.series * data.points);
  }
  return out;
}

namespace {

double statistic_of(std::span<const double> y, Statistic statistic, std::vector<double>& sorted) {
  if (statistic == Statistic::minimum) return *std::min_element(y.begin(), y.end());
  if (statistic == Statistic::midrange) {
    const auto [low, high] = std::minmax_element(y.begin(), y.end());
    return (*low + *high) / 2;
  }
  sorted.assign(y.begin(), y.end());
  if (statistic == Statistic::median) return median_in_place(sorted);
  const auto half = static_cast<std::ptrdiff_t>((sorted.size() + 1) / 2);
  std::partial_sort(sorted.begin(), sorted.begin() + half, sorted.end());
  return std::accumulate(sorted.begin(), sorted.begin() + half, 0.0) / static_cast<double>(half);
}

}  // namespace

void apply_statistic(const Repetitions& data, Statistic statistic, Located& located) {
  if (statistic == Statistic::safe_mean) return;
  (void)parallel_blocks(data.series, kSeriesPerTask, [&](std::size_t begin, std::size_t end) -> Result<void> {
    std::vector<double> sorted;
    for (std::size_t s = begin; s < end; ++s) {
      for (std::size_t k = 0; k < data.points; ++k) {
        located.v[s * data.points + k] = statistic_of(data.at(s, k), statistic, sorted);
      }
    }
    return {};
  });
}

double residual_variance(const RelativeFits& fits, std::size_t blocks, double n) {
  double two = std::numeric_limits<double>::infinity();
  double one = fits.constant;
  for (std::size_t b = 0; b < blocks; ++b) {
    two = std::min(two, fits.squares[b]);
    one = std::min(one, fits.pure[b]);
  }
  return std::max(std::min(two / (n - 2.7), one / (n - 1.7)), 1e-28);
}

Statistic choose_statistic(const Repetitions& data, const Located& safe, std::span<const LineOfPoints> lines) {
  // Which (series, line) pairs to look at, spread evenly.
  std::vector<std::pair<std::size_t, const LineOfPoints*>> pairs;
  const std::size_t total = data.pooled * lines.size();
  if (safe.repetitions < 3 || total < kEnoughLines) return Statistic::safe_mean;
  const std::size_t count = std::min(total, kMostLines);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = i * total / count;
    const auto* line = &lines[at % lines.size()];
    if (line->rows.size() >= 4) pairs.emplace_back(at / lines.size(), line);
  }
  if (pairs.size() < kEnoughLines) return Statistic::safe_mean;
  constexpr std::array kCandidates = {Statistic::safe_mean, Statistic::median, Statistic::minimum, Statistic::midrange,
                                      Statistic::lower_half};
  std::vector<std::array<double, kCandidates.size()>> quality(pairs.size());
  (void)parallel_blocks(pairs.size(), kLinesPerTask, [&](std::size_t begin, std::size_t end) -> Result<void> {
    RelativeFits fits;
    std::vector<double> v;
    std::vector<double> sorted;
    for (std::size_t i = begin; i < end; ++i) {
      const auto& [s, line] = pairs[i];
      for (std::size_t c = 0; c < kCandidates.size(); ++c) {
        v.clear();
        for (const auto row : line->rows) {
          v.push_back(kCandidates[c] == Statistic::safe_mean ? safe.of(s)[row]
                                                             : statistic_of(data.at(s, row), kCandidates[c], sorted));
        }
        relative_fits(*line->table, v, 1, fits);
        quality[i][c] = std::log(residual_variance(fits, line->table->size(), static_cast<double>(v.size())));
      }
    }
    return {};
  });
  Statistic best = Statistic::safe_mean;
  double best_mean = kClearGain;
  for (std::size_t c = 1; c < kCandidates.size(); ++c) {
    double mean = 0;
    double squares = 0;
    for (const auto& q : quality) {
      const double d = std::clamp(q[c] - q[0], -kClip, kClip);
      mean += d;
      squares += d * d;
    }
    const auto n = static_cast<double>(quality.size());
    mean /= n;
    const double error = std::sqrt(std::max(squares / n - mean * mean, 0.0) / n);
    if (mean < best_mean && mean < -3 * error) {
      best_mean = mean;
      best = kCandidates[c];
    }
  }
  return best;
}

MeanLevel mean_level(const Repetitions& data, const Located& located) {
  MeanLevel level;
  level.log_ratio.resize(data.series);
  level.variance.resize(data.series);
  std::vector<double> logs(data.points);
  double average = 0;
  double average_variance = 0;
  for (std::size_t s = 0; s < data.series; ++s) {
    double mean = 0;
    for (std::size_t k = 0; k < data.points; ++k) {
      const auto y = data.at(s, k);
      const double m = std::accumulate(y.begin(), y.end(), 0.0) / static_cast<double>(y.size());
      logs[k] = std::log(m / located.of(s)[k]);
      mean += logs[k];
    }
    const auto n = static_cast<double>(data.points);
    mean /= n;
    double squares = 0;
    for (const double value : logs) squares += (value - mean) * (value - mean);
    level.log_ratio[s] = mean;
    level.variance[s] = n > 1 ? squares / (n - 1) / n : 0;
    if (s >= data.pooled) continue;
    average += mean;
    average_variance += level.variance[s];
  }
  const auto count = static_cast<double>(data.pooled);
  average /= count;
  average_variance /= count;
  double spread = 0;
  for (std::size_t s = 0; s < data.pooled; ++s) {
    spread += (level.log_ratio[s] - average) * (level.log_ratio[s] - average);
  }
  spread = data.pooled > 1 ? spread / (count - 1) : 0;
  // Shrunk to the average as far as the differences between series are noise.
  const double real = std::max(0.0, spread - average_variance);
  for (std::size_t s = 0; s < data.series; ++s) {
    const double error = std::max(level.variance[s], average_variance);
    const double kappa = data.pooled > 1 ? (real + error > 0 ? real / (real + error) : 0) : 1;
    level.log_ratio[s] = average + kappa * (level.log_ratio[s] - average);
    // The average is itself known only so well.
    level.variance[s] = kappa * error + (1 - kappa) * (1 - kappa) * spread / count;
  }
  return level;
}

Prior pooled_prior(std::span<const double> variances, std::span<const double> degrees, double most) {
  Prior prior;
  if (variances.size() < 2) return prior;
  double mean = 0;
  double squares = 0;
  double expected = 0;
  double count = 0;
  struct {
    double half = 0, digamma = 0, log = 0, trigamma = 0;
  } last;  // mostly all have the same degrees of freedom
  for (std::size_t s = 0; s < variances.size(); ++s) {
    const double half = degrees[s] / 2;
    if (!(half > 0)) continue;
    if (half != last.half) last = {half, digamma(half), std::log(half), trigamma(half)};
    const double e = std::log(std::max(variances[s], 1e-28)) - last.digamma + last.log;
    mean += e;
    squares += e * e;
    expected += last.trigamma;
    count += 1;
  }
  if (count < 2) return prior;
  mean /= count;
  const double excess = (squares / count - mean * mean) * count / (count - 1) - expected / count;
  prior.d0 = excess <= 0 ? most : std::min(most, 2 * inverse_trigamma(excess));
  prior.s02 = std::exp(mean + digamma(prior.d0 / 2) - std::log(prior.d0 / 2));
  return prior;
}

}  // namespace fathom
