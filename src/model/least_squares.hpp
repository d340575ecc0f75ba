// Least squares with the rank decision of numpy's lstsq: singular values at or below rcond times the largest count as
// zero and the solution of smallest norm is taken.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace fathom {

// Rows of the pseudo-inverse of the matrix [1, t]: c0 = sum inverse0[k]*y[k], c1 = sum inverse1[k]*y[k].
// Cut-off: machine epsilon * max(rows, 2). False when t holds something that is not finite.
bool line_inverse(std::span<const double> t, std::span<double> inverse0, std::span<double> inverse1);

// Of the values of t times `scale`; `spread`: squares of what they differ from their mean.
struct LineSums {
  double rows, scale, mean, spread, squares;
};
// What is left of [1, t] where its smaller singular value counts as zero: nothing when both count.
struct LineDirection {
  double v0, v1;
  double lambda;  // square of the larger one
};
std::optional<LineDirection> only_direction(const LineSums& sums);

// Solves A c = y for several columns; keeps its buffers between calls. The reference solves again with the cut-off at
// half of the machine epsilon whenever its first one leaves out something, so only that one counts.
class LeastSquares {
 public:
  // `columns` pointers to `rows` numbers each. The answer holds one coefficient per column.
  std::span<const double> solve(std::span<const double* const> columns, std::span<const double> y);
  // Ratio of the largest to the smallest singular value of the last matrix that was solved; infinite: singular.
  [[nodiscard]] double condition() const { return condition_; }

  // Turns columns and values by a common rotation after which only as many rows as columns are left: subsets of them
  // have the same solutions as subsets of the original ones, at a fraction of the work.
  struct Reduced {
    std::vector<std::vector<double>> columns;
    std::vector<double> y;
  };
  void reduce(std::span<const double* const> columns, std::span<const double> y, Reduced& out);

 private:
  void load(std::span<const double* const> columns, std::span<const double> y);
  void factorise(std::size_t rows, std::size_t columns);
  void singular_values(std::size_t columns);

  std::vector<double> q_;  // column-major, Householder vectors in place, then y as last column
  std::vector<double> r_;  // columns x columns, column-major
  std::vector<double> u_, v_, sigma_;
  std::vector<double> solution_;
  double condition_ = 1;
};

}  // namespace fathom
