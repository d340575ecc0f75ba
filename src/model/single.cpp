#include "model/single.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/cancel.hpp"
#include "model/lapack_solver.hpp"
#include "model/least_squares.hpp"

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

// Fits on all points but one. Of many points each follows from what all of them add up to, less the one.
class LeaveOneOut {
 public:
  LeaveOneOut(const BlockTable& table, std::size_t block, std::span<const double> y)
      : table_(table), block_(block), y_(y), t_(table.t(block)), n_(static_cast<double>(y.size())) {
    if (!table.long_work()) return;
    quick_ = true;
    double t_mean = 0;
    for (std::size_t k = 0; k < y.size(); ++k) {
      quick_ = quick_ && std::fabs(t_[k]) <= kMostSquared;
      t_mean += t_[k];
    }
    t_mean_ = t_mean / n_;
    y_mean_ = pairwise_sum(y) / n_;
    for (std::size_t k = 0; k < y.size(); ++k) {
      const double t = t_[k] - t_mean_;
      spread_ += t * t;
      squares_ += t_[k] * t_[k];
      cross_ += t * (y[k] - y_mean_);
      products_ += t_[k] * y[k];
    }
  }

  // Without point k.
  Pair fit(std::size_t k) const {
    if (!quick_) return apply(table_.without(block_, k), y_);
    const double rows = n_ - 1;
    const double t = t_[k] - t_mean_;
    const double y = y_[k] - y_mean_;
    const double t_mean = t_mean_ - t / rows;
    const double y_mean = y_mean_ - y / rows;
    const double spread = spread_ - t * t * n_ / rows;
    const double squares = squares_ - t_[k] * t_[k];
    // The one outweighs all others: little is left of the digits of a difference.
    if (spread < kLeft * spread_ || squares < kLeft * squares_) return apply(table_.without(block_, k), y_);
    if (const auto only = only_direction({rows, 1, t_mean, spread, squares})) {
      const double along = only->v0 * y_mean * rows + only->v1 * (products_ - t_[k] * y_[k]);
      return {only->v0 * along / only->lambda, only->v1 * along / only->lambda};
    }
    const double c1 = (cross_ - t * y * n_ / rows) / spread;
    return {y_mean - t_mean * c1, c1};
  }

 private:
  static constexpr double kMostSquared = 1e100;
  static constexpr double kLeft = 0.1;
  const BlockTable& table_;
  std::size_t block_;
  std::span<const double> y_;
  const double* t_;
  double n_;
  bool quick_ = false;
  double t_mean_ = 0, y_mean_ = 0, spread_ = 0, squares_ = 0, cross_ = 0, products_ = 0;
};

// The smallest of all but each, and what they add up to.
class Others {
 public:
  explicit Others(const BlockTable& table, std::span<const double> y) : y_(y), quick_(table.long_work()) {
    if (!quick_) return;
    sum_ = pairwise_sum(y);
    for (const double value : y) {
      if (value < first_) {
        second_ = first_;
        first_ = value;
      } else {
        second_ = std::min(second_, value);
      }
    }
  }
  struct Figures {
    double smallest, sum;
  };
  Figures without(std::size_t k) const {
    if (quick_) return {y_[k] == first_ ? second_ : first_, sum_ - y_[k]};
    Figures figures{std::numeric_limits<double>::infinity(), 0};
    for (std::size_t i = 0; i < y_.size(); ++i) {
      if (i == k) continue;
      figures.smallest = std::min(figures.smallest, y_[i]);
      figures.sum += y_[i];
    }
    return figures;
  }

 private:
  std::span<const double> y_;
  bool quick_;
  double first_ = std::numeric_limits<double>::infinity();
  double second_ = first_;
  double sum_ = 0;
};

void cross_validate(const BlockTable& table, std::size_t block, std::span<const double> y, Quality& quality) {
  const auto n = static_cast<double>(y.size());
  const double largest = largest_of(y);
  const double* t = table.t(block);
  const LeaveOneOut fits(table, block, y);
  const Others others(table, y);
  for (std::size_t k = 0; k < y.size(); ++k) {
    if (table.long_work() && cancelled()) return;
    auto [c0, c1] = fits.fit(k);
    const auto [smallest, sum] = others.without(k);
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
