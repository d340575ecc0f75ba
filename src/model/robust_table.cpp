#include "model/robust_table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define FATHOM_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define FATHOM_CLONES
#endif

namespace fathom {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Lines {
  std::array<double, kMaxBlocks> c0, c1, sum_t, sum_z, spread, cross, weight, lowest, squares;
};

// One weighted solution for every block; `first`: f = v.
FATHOM_CLONES void solve_round(const double* t, const double* v, std::size_t n, bool first, Lines& s) {
  std::array<double, kMaxBlocks> w{};
  std::array<double, kMaxBlocks> z{};
  for (std::size_t b = 0; b < kMaxBlocks; ++b) {
    s.weight[b] = s.sum_t[b] = s.sum_z[b] = s.spread[b] = s.cross[b] = 0;
  }
  const auto weigh = [&](std::size_t k) {
    if (first) {
      const double weight = 1 / (v[k] * v[k]);
      for (std::size_t b = 0; b < kMaxBlocks; ++b) {
        w[b] = weight;
        z[b] = v[k];
      }
      return;
    }
    for (std::size_t b = 0; b < kMaxBlocks; ++b) {
      // A function that is not positive keeps the weight of the value.
      const double raw = s.c0[b] + s.c1[b] * t[k * kMaxBlocks + b];
      const double f = raw > 0 ? raw : v[k];
      w[b] = 1 / (f * f);
      z[b] = f * (1 + 2 * (v[k] - f) / (v[k] + f));
    }
  };
  for (std::size_t k = 0; k < n; ++k) {
    weigh(k);
    for (std::size_t b = 0; b < kMaxBlocks; ++b) {
      s.weight[b] += w[b];
      s.sum_t[b] += w[b] * t[k * kMaxBlocks + b];
      s.sum_z[b] += w[b] * z[b];
    }
  }
  for (std::size_t b = 0; b < kMaxBlocks; ++b) {
    s.sum_t[b] /= s.weight[b];
    s.sum_z[b] /= s.weight[b];
  }
  for (std::size_t k = 0; k < n; ++k) {
    weigh(k);
    for (std::size_t b = 0; b < kMaxBlocks; ++b) {
      const double d = t[k * kMaxBlocks + b] - s.sum_t[b];
      s.spread[b] += w[b] * d * d;
      s.cross[b] += w[b] * d * (z[b] - s.sum_z[b]);
    }
  }
  for (std::size_t b = 0; b < kMaxBlocks; ++b) {
    s.c1[b] = s.spread[b] > 0 ? s.cross[b] / s.spread[b] : 0;
    s.c0[b] = s.sum_z[b] - s.c1[b] * s.sum_t[b];
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
  solve_round(table.t_row(0), v.data(), n, true, lines);
  for (int round = 0; round < rounds; ++round) solve_round(table.t_row(0), v.data(), n, false, lines);
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

}  // namespace fathom
