#include "model/robust_table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/vector_clones.hpp"

namespace fathom {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Lines {
  std::array<double, kMaxBlocks> c0, c1, lowest, squares;
};

// Solution for every block with the weights of the values, 1/v^2.
FATHOM_CLONES void first_solution(const double* t, const double* v, std::size_t n, Lines& s) {
  std::array<double, kMaxBlocks> sum_t{};
  std::array<double, kMaxBlocks> sum_tt{};
  std::array<double, kMaxBlocks> sum_tv{};
  double sum_w = 0;
  double sum_v = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const double inverse = 1 / v[k];
    const double w = inverse * inverse;
    sum_w += w;
    sum_v += inverse;
    for (std::size_t b = 0; b < kMaxBlocks; ++b) {
      const double x = t[k * kMaxBlocks + b];
      sum_t[b] += w * x;
      sum_tt[b] += w * x * x;
      sum_tv[b] += inverse * x;
    }
  }
  for (std::size_t b = 0; b < kMaxBlocks; ++b) {
    const double determinant = sum_w * sum_tt[b] - sum_t[b] * sum_t[b];
    s.c1[b] = determinant > 0 ? (sum_w * sum_tv[b] - sum_t[b] * sum_v) / determinant : 0;
    s.c0[b] = (sum_v - s.c1[b] * sum_t[b]) / sum_w;
  }
}

// One step with weights 1/f^2 for what the solution still misses, so that rounding in it does not add up.
FATHOM_CLONES void improve(const double* t, const double* v, std::size_t n, Lines& s) {
  std::array<double, kMaxBlocks> sum_w{};
  std::array<double, kMaxBlocks> sum_t{};
  std::array<double, kMaxBlocks> sum_tt{};
  std::array<double, kMaxBlocks> sum_y{};
  std::array<double, kMaxBlocks> sum_ty{};
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t b = 0; b < kMaxBlocks; ++b) {
      const double x = t[k * kMaxBlocks + b];
      const double raw = s.c0[b] + s.c1[b] * x;
      // A function that is not positive is drawn to the value with the value's weight.
      const double f = raw > 0 ? raw : v[k];
      const double both = 1 / (f * (v[k] + f));
      const double inverse = (v[k] + f) * both;
      const double missing = (raw > 0 ? 2 * (v[k] - f) * f * f * both : v[k] - raw);
      const double w = inverse * inverse;
      sum_w[b] += w;
      sum_t[b] += w * x;
      sum_tt[b] += w * x * x;
      sum_y[b] += w * missing;
      sum_ty[b] += w * missing * x;
    }
  }
  for (std::size_t b = 0; b < kMaxBlocks; ++b) {
    const double determinant = sum_w[b] * sum_tt[b] - sum_t[b] * sum_t[b];
    const double step = determinant > 0 ? (sum_w[b] * sum_ty[b] - sum_t[b] * sum_y[b]) / determinant : 0;
    s.c1[b] += step;
    s.c0[b] += (sum_y[b] - step * sum_t[b]) / sum_w[b];
  }
}

FATHOM_CLONES void residuals(const double* t, const double* v, std::size_t n, Lines& s) {
  for (std::size_t b = 0; b < kMaxBlocks; ++b) {
    s.squares[b] = 0;
    s.lowest[b] = 1;
  }
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t b = 0; b < kMaxBlocks; ++b) {
      const double f = s.c0[b] + s.c1[b] * t[k * kMaxBlocks + b];
      const double r = 2 * (v[k] - f) / (v[k] + f);
      s.squares[b] += r * r;
      s.lowest[b] = f < s.lowest[b] ? f : s.lowest[b];
    }
  }
}

FATHOM_CLONES void pure_terms(const double* log_t, const double* log_v, std::size_t n, double* mean, double* squares) {
  for (std::size_t b = 0; b < kMaxBlocks; ++b) mean[b] = squares[b] = 0;
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t b = 0; b < kMaxBlocks; ++b) mean[b] += log_v[k] - log_t[k * kMaxBlocks + b];
  }
  for (std::size_t b = 0; b < kMaxBlocks; ++b) mean[b] /= static_cast<double>(n);
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t b = 0; b < kMaxBlocks; ++b) {
      const double r = log_v[k] - log_t[k * kMaxBlocks + b] - mean[b];
      squares[b] += r * r;
    }
  }
}

}  // namespace

RelativeTable::RelativeTable(std::span<const double> x, std::span<const Block> blocks)
    : points_(x.size()), t_(x.size() * kMaxBlocks, 1.0), log_(x.size() * kMaxBlocks, 0.0) {
  for (const auto& block : blocks) {
    std::vector<double> t;
    bool positive = true;
    bool finite = true;
    double log_sum = 0;
    double sum = 0;
    for (const double value : x) {
      t.push_back(block_value(block, value));
      finite = finite && std::isfinite(t.back());
      positive = positive && t.back() > 0;
      sum += std::fabs(t.back());
      if (t.back() > 0) log_sum += std::log(t.back());
    }
    if (!finite || sum == 0 || blocks_.size() == kMaxBlocks) continue;
    const auto n = static_cast<double>(x.size());
    const std::size_t b = blocks_.size();
    blocks_.push_back(block);
    scale_[b] = positive ? std::exp(log_sum / n) : sum / n;
    pure_[b] = positive;
    for (std::size_t k = 0; k < x.size(); ++k) {
      t_[k * kMaxBlocks + b] = t[k] / scale_[b];
      log_[k * kMaxBlocks + b] = positive ? std::log(t[k] / scale_[b]) : 0;
    }
  }
}

void relative_fits(const RelativeTable& table, std::span<const double> v, int rounds, RelativeFits& fits) {
  const std::size_t n = v.size();
  Lines lines{};
  first_solution(table.t_row(0), v.data(), n, lines);
  for (int round = 0; round < rounds; ++round) improve(table.t_row(0), v.data(), n, lines);
  residuals(table.t_row(0), v.data(), n, lines);
  std::array<double, 64> small;
  std::vector<double> large;
  double* log_v = small.data();
  if (n > small.size()) {
    large.resize(n);
    log_v = large.data();
  }
  double mean = 0;
  for (std::size_t k = 0; k < n; ++k) {
    log_v[k] = std::log(v[k]);
    mean += log_v[k];
  }
  mean /= static_cast<double>(n);
  fits.log_constant = mean;
  fits.constant = 0;
  for (std::size_t k = 0; k < n; ++k) fits.constant += (log_v[k] - mean) * (log_v[k] - mean);
  pure_terms(table.log_row(0), log_v, n, fits.log_c.data(), fits.pure.data());
  for (std::size_t b = 0; b < kMaxBlocks; ++b) {
    const bool valid = b < table.size() && lines.lowest[b] > 0 && std::isfinite(lines.squares[b]);
    fits.squares[b] = valid ? lines.squares[b] : kInfinity;
    fits.c0[b] = lines.c0[b];
    fits.c1[b] = lines.c1[b];
    if (b >= table.size() || !table.pure_possible(b)) fits.pure[b] = kInfinity;
  }
}

void line_squares(const RelativeTable& table, std::span<const double> v, std::span<double, kMaxBlocks> squares) {
  Lines lines{};
  first_solution(table.t_row(0), v.data(), v.size(), lines);
  residuals(table.t_row(0), v.data(), v.size(), lines);
  for (std::size_t b = 0; b < kMaxBlocks; ++b) {
    const bool valid = b < table.size() && lines.lowest[b] > 0 && std::isfinite(lines.squares[b]);
    squares[b] = valid ? lines.squares[b] : kInfinity;
  }
}

}  // namespace fathom
