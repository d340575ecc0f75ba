#include "model/gaussian_process.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/cancel.hpp"

namespace fathom {
namespace {

using Matrix = std::vector<std::vector<double>>;

// Lower triangle; false when the matrix is not positive definite, or when that is to stop.
bool cholesky(Matrix& a) {
  const std::size_t n = a.size();
  for (std::size_t i = 0; i < n; ++i) {
    if (cancelled()) return false;
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = a[i][j];
      for (std::size_t k = 0; k < j; ++k) sum -= a[i][k] * a[j][k];
      if (i == j) {
        if (!(sum > 0)) return false;
        a[i][i] = std::sqrt(sum);
      } else {
        a[i][j] = sum / a[j][j];
      }
    }
  }
  return true;
}

std::vector<double> solve_lower(const Matrix& l, std::vector<double> b) {
  for (std::size_t i = 0; i < b.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= l[i][k] * b[k];
    b[i] /= l[i][i];
  }
  return b;
}

}  // namespace

double GaussianProcess::kernel(const std::vector<double>& a, const std::vector<double>& b) const {
  double square = 0;
  for (std::size_t p = 0; p < a.size(); ++p) square += (a[p] - b[p]) * (a[p] - b[p]);
  const double r = std::numbers::sqrt3 * std::sqrt(square) / length_;
  return (1 + r) * std::exp(-r);
}

GaussianProcess::GaussianProcess(const std::vector<std::vector<double>>& points, const std::vector<double>& values,
                                 double noise, const std::vector<std::vector<double>>& candidates)
    : noise_(std::max(noise * noise, 1e-5)), candidates_(candidates) {
  // Values around zero with unit spread, so that the kernel needs no amplitude.
  double mean = 0;
  for (const double v : values) mean += v / static_cast<double>(values.size());
  double spread = 0;
  for (const double v : values) spread += (v - mean) * (v - mean) / static_cast<double>(values.size());
  std::vector<double> y;
  for (const double v : values) y.push_back(spread > 0 ? (v - mean) / std::sqrt(spread) : 0);
  Matrix best;
  double best_likelihood = -INFINITY;
  double best_length = 1;
  for (const double length : {1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0}) {
    length_ = length;
    Matrix a(points.size(), std::vector<double>(points.size(), 0));
    for (std::size_t i = 0; i < points.size(); ++i) {
      for (std::size_t j = 0; j <= i; ++j) a[i][j] = kernel(points[i], points[j]) + (i == j ? noise_ : 0);
    }
    if (!cholesky(a)) continue;
    double likelihood = 0;
    for (const double v : solve_lower(a, y)) likelihood -= v * v / 2;
    for (std::size_t i = 0; i < a.size(); ++i) likelihood -= std::log(a[i][i]);
    if (likelihood > best_likelihood) {
      best_likelihood = likelihood;
      best_length = length;
      best = std::move(a);
    }
  }
  length_ = best_length;
  for (const auto& c : candidates_) {
    if (cancelled()) return;
    std::vector<double> k;
    for (std::size_t i = 0; i < best.size(); ++i) k.push_back(kernel(points[i], c));
    solved_.push_back(solve_lower(best, std::move(k)));
    double variance = 1;
    for (const double v : solved_.back()) variance -= v * v;
    variance_.push_back(std::max(variance, 0.0));
  }
}

void GaussianProcess::add(std::size_t candidate) {
  const std::vector<double> row = solved_[candidate];
  const double diagonal = std::sqrt(variance_[candidate] + noise_);
  for (std::size_t c = 0; c < candidates_.size(); ++c) {
    double next = kernel(candidates_[c], candidates_[candidate]);
    for (std::size_t i = 0; i < row.size(); ++i) next -= solved_[c][i] * row[i];
    next /= diagonal;
    solved_[c].push_back(next);
    variance_[c] = std::max(variance_[c] - next * next, 0.0);
  }
}

}  // namespace fathom
