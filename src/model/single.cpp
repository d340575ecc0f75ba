#include "model/single.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/cancel.hpp"
#include "model/lapack_solver.hpp"

namespace fathom {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
// Below these shares of the smallest value a constant counts as rounding noise.
constexpr double kCleanCrossValidated = 0.0005;
constexpr double kCleanInSample = 0.001;
constexpr double kRounding = 1e-12;  // share of the largest value below which a number may be rounding alone

double pairwise_sum(std::span<const double> a) {
  const std::size_t n = a.size();
  if (n < 8) {
    double sum = 0;
    for (const double value : a) sum += value;
    return sum;
  }
  if (n <= 128) {
    double part[8];
    std::copy_n(a.begin(), 8, part);
    std::size_t k = 8;
    for (; k + 8 <= n; k += 8) {
      for (std::size_t i = 0; i < 8; ++i) part[i] += a[k + i];
    }
    double sum = ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
    for (; k < n; ++k) sum += a[k];
    return sum;
  }
  std::size_t half = n / 2;
  half -= half % 8;
  return pairwise_sum(a.first(half)) + pairwise_sum(a.subspan(half));
}

double cleaned(double constant, double smallest, double share) {
  const double size = smallest == 0 ? std::fabs(constant) : std::fabs(constant / smallest);
  return size < share ? 0 : constant;
}

struct Pair {
  double c0 = 0, c1 = 0;
};
Pair apply(const LineWeights* weights, std::span<const double> y) {
  Pair pair;
  for (std::size_t k = 0; k < y.size(); ++k) {
    pair.c0 += weights[k].w0 * y[k];
    pair.c1 += weights[k].w1 * y[k];
  }
  return pair;
}

double largest_of(std::span<const double> y) {
  double largest = 0;
  for (const double value : y) largest = std::max(largest, std::fabs(value));
  return largest;
}

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// Fit without point k (kNone: on all) by the reference's own routine.
Pair faithful_without(const double* t, std::size_t k, std::span<const double> y) {
  static thread_local LapackSolver solver;
  std::vector<double> terms;
  std::vector<double> values;
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (i == k) continue;
    terms.push_back(t[i]);
    values.push_back(y[i]);
  }
  const std::vector<double> ones(values.size(), 1);
  const double* columns[] = {ones.data(), terms.data()};
  const auto solution = solver.solve(columns, values, false);
  return {solution[0], solution[1]};
}

void cross_validate(const BlockTable& table, std::size_t block, std::span<const double> y, Quality& quality) {
  const auto n = static_cast<double>(y.size());
  const double largest = largest_of(y);
  const double* t = table.t(block);
  for (std::size_t k = 0; k < y.size(); ++k) {
    if (table.long_work() && cancelled()) return;
    auto [c0, c1] = apply(table.without(block, k), y);
    double smallest = std::numeric_limits<double>::infinity();
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      if (i == k) continue;
      smallest = std::min(smallest, y[i]);
      sum += y[i];
    }
    c0 = cleaned(c0, smallest, kCleanCrossValidated);
    double predicted = c0 + c1 * t[k];
    // Zero predicted as zero: SMAPE counts it 0 or 200 %, as the last bit decides.
    if (y[k] == 0 && std::fabs(predicted) <= kRounding * largest) {
      const Pair faithful = faithful_without(t, k, y);
      predicted = cleaned(faithful.c0, smallest, kCleanCrossValidated) + faithful.c1 * t[k];
    }
    const double difference = predicted - y[k];
    quality.rss += difference * difference;
    quality.nrss += std::sqrt(quality.rss) / (sum / (n - 1)) / n;
    if (y[k] != 0) {
      const double relative = difference / y[k];
      quality.re += std::fabs(relative) / n;
      quality.rrss += relative * relative;
    }
    const double size = std::fabs(y[k]) + std::fabs(predicted);
    if (size != 0) quality.smape += 2 * std::fabs(difference) / size / n * 100;
  }
}

double adjusted_r2(double rss, double total, double n, double terms) {
  return 1 - (rss / total) * (n - 1) / (n - terms - 1);
}

}  // namespace

double mean_of(std::span<const double> values) {
  for (const double value : values) {
    if (!std::isfinite(value)) return kNan;
  }
  return pairwise_sum(values) / static_cast<double>(values.size());
}

LineFit constant_fit(std::span<const double> y) {
  LineFit fit;
  const auto n = static_cast<double>(y.size());
  const double c = mean_of(y);
  fit.constant = c;
  auto& q = fit.quality;
  for (const double value : y) {
    const double difference = c - value;
    q.rss += difference * difference;
    if (value != 0) {
      const double relative = difference / value;
      q.rrss += relative * relative;
      q.re = std::fabs(difference) / value;  // of the last one only
    }
    const double size = std::fabs(value) + std::fabs(c);
    if (size != 0) q.smape += 2 * std::fabs(difference) / size;
  }
  q.smape *= 100 / n;
  q.ar2 = 1;
  q.nrss = c == 0 ? kNan : std::sqrt(q.rss) / c;
  return fit;
}

Quality in_sample_quality(std::span<const double> predicted, std::span<const double> y, std::size_t free_terms) {
  Quality q;
  const auto n = static_cast<double>(y.size());
  double counted = 0;
  const double mean = mean_of(y);
  double total = 0;
  for (std::size_t k = 0; k < y.size(); ++k) {
    const double difference = predicted[k] - y[k];
    q.rss += difference * difference;
    const double relative = difference / y[k];
    q.rrss += relative * relative;
    q.re += std::fabs(difference) / y[k];
    const double size = std::fabs(y[k]) + std::fabs(predicted[k]);
    if (size != 0) {
      q.smape += 2 * std::fabs(difference) / size;
      counted += 1;
    }
    total += (y[k] - mean) * (y[k] - mean);
  }
  q.re /= n;
  q.smape *= 100 / counted;
  q.nrss = std::sqrt(q.rss) / mean;
  q.ar2 = adjusted_r2(q.rss, total, n, static_cast<double>(free_terms));
  return q;
}

LineFit block_fit(const BlockTable& table, std::size_t block, std::span<const double> y, const SingleOptions& options,
                  double total) {
  LineFit fit;
  fit.has_term = true;
  fit.block = table.block(block);
  auto [c0, c1] = apply(table.all(block), y);
  // A curve through a zero: whether it hits it exactly is up to the last bit, and counts.
  if (std::find(y.begin(), y.end(), 0.0) != y.end() && std::fabs(c0) <= kRounding * largest_of(y)) {
    const Pair faithful = faithful_without(table.t(block), kNone, y);
    c0 = faithful.c0;
    c1 = faithful.c1;
  }
  fit.constant = c0;
  fit.coefficient = c1;
  if (options.use_crossvalidation) {
    cross_validate(table, block, y, fit.quality);
    fit.quality.ar2 = adjusted_r2(fit.quality.rss, total, static_cast<double>(y.size()), 1);
    return fit;
  }
  fit.constant = cleaned(c0, *std::min_element(y.begin(), y.end()), kCleanInSample);
  std::vector<double> predicted(y.size());
  for (std::size_t k = 0; k < y.size(); ++k) predicted[k] = fit.constant + c1 * table.t(block)[k];
  fit.quality = in_sample_quality(predicted, y, 1);
  return fit;
}

double contribution(const BlockTable& table, std::size_t block, double coefficient, std::span<const double> y) {
  double largest = 0;
  for (std::size_t k = 0; k < y.size(); ++k) {
    const double share = std::fabs(coefficient * table.t(block)[k] / y[k]);
    if (std::isnan(share)) return kNan;
    largest = std::max(largest, share);
  }
  return largest;
}

LineFit basic_fit(const BlockTable& table, std::span<const double> y, const SingleOptions& options) {
  LineFit best = constant_fit(y);
  const double total = best.quality.rss;
  if (total == 0 || !std::isfinite(total)) return best;
  for (std::size_t b = 0; b < table.size(); ++b) {
    LineFit fit = block_fit(table, b, y, options, total);
    if (!std::isfinite(fit.quality.rss)) continue;
    const bool better =
        options.compare_with_rss ? fit.quality.rss < best.quality.rss : fit.quality.smape < best.quality.smape;
    if (!better || fit.coefficient == 0) continue;
    if (contribution(table, b, fit.coefficient, y) < options.minimum_term_contribution) continue;
    best = std::move(fit);
  }
  return best;
}

Function function_of(const LineFit& fit, std::uint32_t parameter) {
  Function function;
  function.constant = fit.constant;
  if (fit.has_term) {
    function.terms.resize(1);
    auto& term = function.terms.front();
    term.coefficient = fit.coefficient;
    term.factors.resize(1);
    auto& factor = term.factors.front();
    factor.parameter = parameter;
    factor.power = fit.block.power;
    factor.log = fit.block.log;
  }
  return function;
}

BasicSpace basic_space(const SingleOptions& options, std::span<const double> x) {
  BasicSpace space;
  space.blocks = search_space(options);
  if (!logs_possible(x, options.allow_negative_exponents)) {
    space.logs_dropped = std::erase_if(space.blocks, [](const Block& block) { return !block.log.zero(); }) > 0;
  }
  return space;
}

std::unique_ptr<SingleModeler> make_single(Modeler modeler, const SingleOptions& options, std::span<const double> x,
                                           std::uint32_t parameter) {
  if (modeler == Modeler::refining) return make_refining(options, x, parameter);
  if (modeler == Modeler::segmented) return make_segmented(options, x, parameter);
  return make_basic(options, x, parameter);
}

}  // namespace fathom
