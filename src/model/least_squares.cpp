#include "model/least_squares.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fathom {

namespace {
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
// The smallest cut-off of LAPACK's solver: its notion of epsilon is half of the spacing at one.
constexpr double kTightCutoff = kEpsilon / 2;
constexpr int kMaxSweeps = 30;
}  // namespace

bool line_inverse(std::span<const double> t, std::span<double> inverse0, std::span<double> inverse1) {
  const auto rows = static_cast<double>(t.size());
  double largest = 0;
  for (const double value : t) {
    if (!std::isfinite(value)) return false;
    largest = std::max(largest, std::fabs(value));
  }
  // Scaled by a power of two so that squares stay finite; 1 for all but absurd coordinates.
  const double scale = largest > 1e100 ? std::exp2(-std::floor(std::log2(largest))) : 1.0;
  double mean = 0;
  for (const double value : t) mean += value * scale;
  mean /= rows;
  double spread = 0;
  double squares = 0;
  for (const double value : t) {
    const double s = value * scale;
    spread += (s - mean) * (s - mean);
    squares += s * s;
  }
  const auto only = only_direction({rows, scale, mean, spread, squares});
  if (!only) {
    for (std::size_t k = 0; k < t.size(); ++k) {
      const double weight = (t[k] * scale - mean) / spread;
      inverse1[k] = weight * scale;
      inverse0[k] = 1 / rows - mean * weight;
    }
    return true;
  }
  const auto [v0, v1, lambda] = *only;
  for (std::size_t k = 0; k < t.size(); ++k) {
    const double weight = (v0 * scale + v1 * t[k] * scale) / lambda;
    inverse0[k] = v0 * weight * scale;
    inverse1[k] = v1 * weight * scale;
  }
  return true;
}

std::optional<LineDirection> only_direction(const LineSums& sums) {
  const auto& [rows, scale, mean, spread, squares] = sums;
  // Singular values of the triangular factor [r11 r12; 0 r22].
  const double root = std::sqrt(rows);
  const double r11 = root * scale;  // the constant column scaled alike keeps the ratio
  const double r12 = root * mean;
  const double r22 = std::sqrt(spread);
  const double sigma_max = (std::hypot(r11 + r22, r12) + std::hypot(r11 - r22, r12)) / 2;
  const double sigma_min = r11 * r22 / sigma_max;
  const double cutoff = kEpsilon * std::max(rows, 2.0);
  if (sigma_min > cutoff * sigma_max) return std::nullopt;
  // One direction (v0, v1) is left.
  const double lambda = sigma_max * sigma_max;
  const double constant_square = rows * scale * scale;
  const double cross = rows * mean * scale;
  double v0 = 1;
  double v1 = 0;
  if (constant_square >= squares) {
    v0 = lambda - squares;
    v1 = cross;
  } else {
    v0 = cross;
    v1 = lambda - constant_square;
  }
  const double norm = std::hypot(v0, v1);
  if (!(norm > 0)) return LineDirection{1, 0, lambda};
  return LineDirection{v0 / norm, v1 / norm, lambda};
}

void LeastSquares::factorise(std::size_t rows, std::size_t columns) {
  // Householder reflections; the right-hand side is carried along as column number `columns`.
  for (std::size_t c = 0; c < columns; ++c) {
    double* pivot = q_.data() + c * rows;
    if (c >= rows) {
      for (std::size_t i = 0; i < rows; ++i) r_[c * columns + i] = pivot[i];
      continue;
    }
    double norm = 0;
    for (std::size_t k = c; k < rows; ++k) norm = std::max(norm, std::fabs(pivot[k]));
    for (std::size_t i = 0; i < c; ++i) r_[c * columns + i] = pivot[i];
    if (norm == 0) {
      r_[c * columns + c] = 0;
      continue;
    }
    double squares = 0;
    for (std::size_t k = c; k < rows; ++k) {
      const double scaled = pivot[k] / norm;
      squares += scaled * scaled;
    }
    const double length = norm * std::sqrt(squares);
    const double alpha = pivot[c] > 0 ? -length : length;
    r_[c * columns + c] = alpha;
    // v = pivot - alpha e_c, scaled so that v[c] = 1; H = I - tau v v'.
    const double head = pivot[c] - alpha;
    const double tau = -head / alpha;
    for (std::size_t k = c + 1; k < rows; ++k) pivot[k] /= head;
    for (std::size_t other = c + 1; other <= columns; ++other) {
      double* target = q_.data() + other * rows;
      double dot = target[c];
      for (std::size_t k = c + 1; k < rows; ++k) dot += pivot[k] * target[k];
      dot *= tau;
      target[c] -= dot;
      for (std::size_t k = c + 1; k < rows; ++k) target[k] -= dot * pivot[k];
    }
  }
}

void LeastSquares::singular_values(std::size_t columns) {
  // One-sided Jacobi on the triangular factor: r_ = u_ * diag(sigma_) * v_'.
  u_.assign(r_.begin(), r_.begin() + static_cast<std::ptrdiff_t>(columns * columns));
  v_.assign(columns * columns, 0);
  for (std::size_t c = 0; c < columns; ++c) v_[c * columns + c] = 1;
  for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
    bool rotated = false;
    for (std::size_t a = 0; a + 1 < columns; ++a) {
      for (std::size_t b = a + 1; b < columns; ++b) {
        double aa = 0;
        double bb = 0;
        double ab = 0;
        for (std::size_t i = 0; i < columns; ++i) {
          const double x = u_[a * columns + i];
          const double y = u_[b * columns + i];
          aa += x * x;
          bb += y * y;
          ab += x * y;
        }
        if (!(std::fabs(ab) > kEpsilon * std::sqrt(aa) * std::sqrt(bb))) continue;
        rotated = true;
        const double zeta = (bb - aa) / (2 * ab);
        const double tangent = std::copysign(1.0, zeta) / (std::fabs(zeta) + std::hypot(1.0, zeta));
        const double cosine = 1 / std::hypot(1.0, tangent);
        const double sine = cosine * tangent;
        for (std::size_t i = 0; i < columns; ++i) {
          for (auto* matrix : {&u_, &v_}) {
            double& x = (*matrix)[a * columns + i];
            double& y = (*matrix)[b * columns + i];
            const double old = x;
            x = cosine * old - sine * y;
            y = sine * old + cosine * y;
          }
        }
      }
    }
    if (!rotated) break;
  }
  sigma_.resize(columns);
  for (std::size_t c = 0; c < columns; ++c) {
    double squares = 0;
    for (std::size_t i = 0; i < columns; ++i) squares += u_[c * columns + i] * u_[c * columns + i];
    sigma_[c] = std::sqrt(squares);
  }
}

void LeastSquares::load(std::span<const double* const> columns, std::span<const double> y) {
  const std::size_t rows = y.size();
  q_.resize(rows * (columns.size() + 1));
  r_.assign(columns.size() * columns.size(), 0);
  for (std::size_t c = 0; c < columns.size(); ++c) std::copy_n(columns[c], rows, q_.data() + c * rows);
  std::copy(y.begin(), y.end(), q_.data() + columns.size() * rows);
}

void LeastSquares::reduce(std::span<const double* const> columns, std::span<const double> y, Reduced& out) {
  const std::size_t width = columns.size();
  load(columns, y);
  factorise(y.size(), width);
  out.columns.resize(width);
  for (std::size_t c = 0; c < width; ++c) {
    out.columns[c].assign(r_.data() + c * width, r_.data() + (c + 1) * width);
  }
  const double* rhs = q_.data() + width * y.size();
  out.y.assign(rhs, rhs + std::min(width, y.size()));
  out.y.resize(width, 0);
}

std::span<const double> LeastSquares::solve(std::span<const double* const> matrix, std::span<const double> y) {
  const std::size_t rows = y.size();
  const std::size_t columns = matrix.size();
  load(matrix, y);
  solution_.assign(columns, std::numeric_limits<double>::quiet_NaN());
  condition_ = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < rows * columns; ++k) {
    if (!std::isfinite(q_[k])) return solution_;
  }
  factorise(rows, columns);
  const double* rhs = q_.data() + columns * rows;
  singular_values(columns);
  const double largest = *std::max_element(sigma_.begin(), sigma_.end());
  const double smallest = *std::min_element(sigma_.begin(), sigma_.end());
  if (smallest > 0) condition_ = largest / smallest;
  const bool full = rows >= columns && smallest > kTightCutoff * largest;
  if (full) {
    for (std::size_t c = columns; c-- > 0;) {
      double value = rhs[c];
      for (std::size_t other = c + 1; other < columns; ++other) value -= r_[other * columns + c] * solution_[other];
      solution_[c] = value / r_[c * columns + c];
    }
    return solution_;
  }
  std::fill(solution_.begin(), solution_.end(), 0.0);
  for (std::size_t s = 0; s < columns; ++s) {
    if (!(sigma_[s] > kTightCutoff * largest)) continue;
    double dot = 0;
    for (std::size_t i = 0; i < std::min(rows, columns); ++i) dot += u_[s * columns + i] * rhs[i];
    dot /= sigma_[s] * sigma_[s];
    for (std::size_t c = 0; c < columns; ++c) solution_[c] += v_[s * columns + c] * dot;
  }
  return solution_;
}

}  // namespace fathom
