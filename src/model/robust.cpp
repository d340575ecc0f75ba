#include "model/robust.hpp"

#include <algorithm>
#include <cmath>

#include "model/least_squares.hpp"

namespace fathom {

namespace {
constexpr double kNegativePenalty = 4;
constexpr double kRoundingVariance = 1e-28;
constexpr double kDecreasing = -4;
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

bool decreasing(std::span<const double> x, std::span<const double> v) {
  const auto n = static_cast<double>(x.size());
  if (x.size() < 3) return false;
  double mean_x = 0;
  double mean_v = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (!(x[k] > 0)) return false;
    mean_x += std::log(x[k]) / n;
    mean_v += std::log(v[k]) / n;
  }
  double xx = 0;
  double xv = 0;
  double vv = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double dx = std::log(x[k]) - mean_x;
    const double dv = std::log(v[k]) - mean_v;
    xx += dx * dx;
    xv += dx * dv;
    vv += dv * dv;
  }
  if (xx == 0 || xv >= 0) return false;
  const double slope = xv / xx;
  const double error = std::sqrt(std::max(vv - slope * xv, 0.0) / (n - 2) / xx);
  return slope < kDecreasing * error && slope < -1e-12;
}

bool RelativeSolver::solve(std::span<const double* const> columns, std::span<const double> v, int rounds,
                           Hypothesis& hypothesis) {
  static thread_local LeastSquares solver;
  const std::size_t n = v.size();
  const std::size_t width = columns.size();
  weighted_.resize(std::max(weighted_.size(), width));
  pointers_.resize(width);
  f_.assign(v.begin(), v.end());
  target_.resize(n);
  hypothesis.coefficients.resize(width);
  for (int round = 0; round <= rounds; ++round) {
    for (std::size_t c = 0; c < width; ++c) {
      weighted_[c].resize(n);
      for (std::size_t k = 0; k < n; ++k) weighted_[c][k] = columns[c][k] / f_[k];
      pointers_[c] = weighted_[c].data();
    }
    for (std::size_t k = 0; k < n; ++k) target_[k] = 1 + 2 * (v[k] - f_[k]) / (v[k] + f_[k]);
    const auto solution = solver.solve(pointers_, target_);
    std::copy(solution.begin(), solution.end(), hypothesis.coefficients.begin());
    hypothesis.squares = 0;
    for (std::size_t k = 0; k < n; ++k) {
      double f = 0;
      for (std::size_t c = 0; c < width; ++c) f += hypothesis.coefficients[c] * columns[c][k];
      if (!(f > 0) || !std::isfinite(f)) return false;
      f_[k] = f;
      const double r = 2 * (v[k] - f) / (v[k] + f);
      hypothesis.squares += r * r;
    }
  }
  return true;
}

}  // namespace fathom
