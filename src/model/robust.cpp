#include "model/robust.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace fathom {

namespace {
constexpr double kRoundingVariance = 1e-28;
constexpr double kDecreasing = -4;
constexpr double kDependent = 1e-13;  // share of a column that its predecessors must leave over
constexpr double kExact = 1e-16;      // mean square below which only rounding is left, and worth another round
constexpr int kRoundsForExact = 3;
}  // namespace

double Scoring::operator()(double squares, double coefficients, double negative) const {
  return nu * std::log(base + squares) + coefficients * log_n + kNegativePenalty * negative;
}

void RobustGroup::set_scoring(std::span<const double> tau2, std::span<const double> df, const Prior& prior, double n) {
  scoring_.resize(data_.series);
  for (std::size_t s = 0; s < data_.series; ++s) {
    const double count = n + df[s];
    scoring_[s] = {prior.d0 * prior.s02 + df[s] * tau2[s] + kRoundingVariance * count, count + prior.d0,
                   std::log(count)};
  }
}

Function function_of(const Hypothesis& hypothesis, double factor) {
  Function function;
  for (std::size_t i = 0; i < hypothesis.summands.size(); ++i) {
    const double c = hypothesis.coefficients[i] * factor;
    if (hypothesis.summands[i].empty()) {
      function.constant = c;
    } else {
      function.terms.push_back({c, hypothesis.summands[i]});
    }
  }
  return function;
}

std::unique_ptr<RobustGroup> make_robust_group(Repetitions data, std::span<const double> coordinates,
                                               std::size_t parameters, std::span<const double> fixed) {
  if (parameters == 1) return make_robust_single(std::move(data), coordinates, fixed);
  if (parameters <= 3) return make_robust_multi(std::move(data), coordinates, parameters, fixed);
  return nullptr;
}

std::vector<double> logarithms(std::span<const double> values) {
  std::vector<double> out;
  for (const double value : values) {
    if (!(value > 0)) return {};
    out.push_back(std::log(value));
  }
  return out;
}

bool decreasing(std::span<const double> log_x, std::span<const double> log_v) {
  const auto n = static_cast<double>(log_x.size());
  if (log_x.size() < 3) return false;
  double mean_x = 0;
  double mean_v = 0;
  for (std::size_t k = 0; k < log_x.size(); ++k) {
    mean_x += log_x[k] / n;
    mean_v += log_v[k] / n;
  }
  double xx = 0;
  double xv = 0;
  double vv = 0;
  for (std::size_t k = 0; k < log_x.size(); ++k) {
    const double dx = log_x[k] - mean_x;
    const double dv = log_v[k] - mean_v;
    xx += dx * dx;
    xv += dx * dv;
    vv += dv * dv;
  }
  if (xx == 0 || xv >= 0) return false;
  const double slope = xv / xx;
  const double error = std::sqrt(std::max(vv - slope * xv, 0.0) / (n - 2) / xx);
  return slope < kDecreasing * error && slope < -1e-12;
}

namespace {

// As RelativeSolver::solve for a known number of columns. `inverse` and `missing` are room for one number per value.
template <std::size_t kWidth>
bool solve_for(std::span<const double* const> columns, std::span<const double> v, int rounds, std::span<double> inverse,
               std::span<double> missing, Hypothesis& hypothesis) {
  const std::size_t n = v.size();
  auto& c = hypothesis.coefficients;
  c.assign(kWidth, 0);
  for (std::size_t k = 0; k < n; ++k) inverse[k] = 1 / v[k];
  std::fill(missing.begin(), missing.end(), 1.0);
  // Each round solves for what is still missing, so that rounding does not add up.
  for (int round = 0; round <= rounds; ++round) {
    std::array<std::array<double, kWidth>, kWidth> gram{};
    std::array<double, kWidth> step{};
    for (std::size_t k = 0; k < n; ++k) {
      std::array<double, kWidth> row{};
      for (std::size_t a = 0; a < kWidth; ++a) {
        row[a] = columns[a][k] * inverse[k];
        step[a] += row[a] * missing[k];
        for (std::size_t b = 0; b <= a; ++b) gram[a][b] += row[a] * row[b];
      }
    }
    for (std::size_t j = 0; j < kWidth; ++j) {
      const double whole = gram[j][j];
      for (std::size_t i = 0; i < j; ++i) gram[j][j] -= gram[j][i] * gram[j][i];
      if (!(gram[j][j] > kDependent * whole)) return false;
      gram[j][j] = std::sqrt(gram[j][j]);
      for (std::size_t r = j + 1; r < kWidth; ++r) {
        for (std::size_t i = 0; i < j; ++i) gram[r][j] -= gram[r][i] * gram[j][i];
        gram[r][j] /= gram[j][j];
      }
      for (std::size_t i = 0; i < j; ++i) step[j] -= gram[j][i] * step[i];
      step[j] /= gram[j][j];
    }
    for (std::size_t j = kWidth; j-- > 0;) {
      for (std::size_t r = j + 1; r < kWidth; ++r) step[j] -= gram[r][j] * step[r];
      step[j] /= gram[j][j];
      c[j] += step[j];
    }
    std::array<double, kWidth> found{};
    std::copy_n(c.begin(), kWidth, found.begin());
    // Without a branch inside, divisions go two at a time.
    int usable = 1;
    for (std::size_t k = 0; k < n; ++k) {
      double f = 0;
      for (std::size_t a = 0; a < kWidth; ++a) f += found[a] * columns[a][k];
      usable &= static_cast<int>(f > 0) & static_cast<int>(f <= std::numeric_limits<double>::max());
      inverse[k] = 1 / f;
      missing[k] = 2 * (v[k] - f) / (v[k] + f);
    }
    if (usable == 0) return false;
    hypothesis.squares = 0;
    for (const double part : missing) hypothesis.squares += part * part;
    if (round == rounds && rounds < kRoundsForExact && hypothesis.squares < kExact * static_cast<double>(n)) ++rounds;
  }
  return true;
}

}  // namespace

bool RelativeSolver::solve(std::span<const double* const> columns, std::span<const double> v, int rounds,
                           Hypothesis& hypothesis) {
  f_.resize(2 * v.size());
  const auto inverse = std::span(f_).first(v.size());
  const auto missing = std::span(f_).last(v.size());
  static_assert(kMostColumns == 4);
  switch (columns.size()) {
    case 1:
      return solve_for<1>(columns, v, rounds, inverse, missing, hypothesis);
    case 2:
      return solve_for<2>(columns, v, rounds, inverse, missing, hypothesis);
    case 3:
      return solve_for<3>(columns, v, rounds, inverse, missing, hypothesis);
    case 4:
      return solve_for<4>(columns, v, rounds, inverse, missing, hypothesis);
    default:
      return false;
  }
}

}  // namespace fathom
