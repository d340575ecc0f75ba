// Least squares by LAPACK's dgelsd, the routine behind numpy's lstsq.
//
// Slower than LeastSquares and no more accurate, but where two functions fit equally well, or the columns are nearly
// dependent, its rounding decided the reference's choice. Ask it there.
#pragma once

#include <span>
#include <vector>

namespace fathom {

class LapackSolver {
 public:
  // Cut-off epsilon * max(rows, columns). With `insist`, a matrix of lower rank is solved again with LAPACK's own
  // cut-off. The answer holds one coefficient per column, NaN when the matrix is not finite.
  std::span<const double> solve(std::span<const double* const> columns, std::span<const double> y, bool insist);

 private:
  std::vector<double> matrix_, solution_, sigma_, work_;
  std::vector<int> integers_;
};

}  // namespace fathom
