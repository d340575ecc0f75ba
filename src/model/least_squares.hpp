// Least squares with the rank decision of numpy's lstsq: singular values at or below rcond times the largest count as
// zero and the solution of smallest norm is taken.
#pragma once

#include <span>
#include <vector>

namespace fathom {

// Rows of the pseudo-inverse of the matrix [1, t]: c0 = sum inverse0[k]*y[k], c1 = sum inverse1[k]*y[k].
// Cut-off: machine epsilon * max(rows, 2). False when t holds something that is not finite.
bool line_inverse(std::span<const double> t, std::span<double> inverse0, std::span<double> inverse1);

// Solves A c = y for several columns; keeps its buffers between calls. Tries the cut-off epsilon * max(rows, columns)
// and, when that leaves out something, the tighter one at half of the machine epsilon.
class LeastSquares {
 public:
  // `columns` pointers to `rows` numbers each. The answer holds one coefficient per column.
  std::span<const double> solve(std::span<const double* const> columns, std::span<const double> y);

 private:
  void factorise(std::size_t rows, std::size_t columns);
  void singular_values(std::size_t columns);

  std::vector<double> q_;  // column-major, Householder vectors in place, then y as last column
  std::vector<double> r_;  // columns x columns, column-major
  std::vector<double> u_, v_, sigma_;
  std::vector<double> solution_;
};

}  // namespace fathom
