// The two solvers and the reduction agree with each other and with solutions known beforehand.
#include "model/least_squares.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "model/lapack_solver.hpp"

namespace fathom {
namespace {

struct Columns {
  std::vector<std::vector<double>> values;
  [[nodiscard]] std::vector<const double*> pointers() const {
    std::vector<const double*> out;
    for (const auto& column : values) out.push_back(column.data());
    return out;
  }
};

// 3 + 2a - b at five points.
const Columns kPlane{{{1, 1, 1, 1, 1}, {1, 2, 3, 4, 5}, {2, 1, 7, 3, 9}}};
const std::vector<double> kPlaneValues{3, 6, 2, 8, 4};

TEST(Solvers, FindTheCoefficientsOfExactData) {
  const auto columns = kPlane.pointers();
  LeastSquares quick;
  LapackSolver faithful;
  for (const auto solution : {quick.solve(columns, kPlaneValues), faithful.solve(columns, kPlaneValues, true)}) {
    ASSERT_EQ(solution.size(), 3U);
    EXPECT_NEAR(solution[0], 3, 1e-12);
    EXPECT_NEAR(solution[1], 2, 1e-12);
    EXPECT_NEAR(solution[2], -1, 1e-12);
  }
  EXPECT_GT(quick.condition(), 1);
  EXPECT_LT(quick.condition(), 100);
}

TEST(Solvers, TakeTheSmallestSolutionOfDependentColumns) {
  const Columns twice{{{1, 1, 1}, {1, 1, 1}}};
  const std::vector<double> y{4, 4, 4};
  const auto columns = twice.pointers();
  LeastSquares quick;
  LapackSolver faithful;
  for (const auto solution : {quick.solve(columns, y), faithful.solve(columns, y, false)}) {
    EXPECT_NEAR(solution[0], 2, 1e-12);
    EXPECT_NEAR(solution[1], 2, 1e-12);
  }
  EXPECT_GT(quick.condition(), 1e15);
}

TEST(Solvers, ReducedColumnsHaveTheSameSolutions) {
  LeastSquares solver;
  LeastSquares::Reduced reduced;
  const std::vector<double> y{3.5, 5, 2.5, 9, 4};
  const auto columns = kPlane.pointers();
  solver.reduce(columns, y, reduced);
  ASSERT_EQ(reduced.columns.size(), 3U);
  ASSERT_EQ(reduced.y.size(), 3U);
  for (const std::vector<std::size_t>& subset : {std::vector<std::size_t>{0, 1}, {0, 2}, {1, 2}, {0, 1, 2}}) {
    std::vector<const double*> whole;
    std::vector<const double*> small;
    for (const auto c : subset) {
      whole.push_back(columns[c]);
      small.push_back(reduced.columns[c].data());
    }
    LeastSquares other;
    const auto expected = other.solve(whole, y);
    const auto found = solver.solve(small, reduced.y);
    for (std::size_t c = 0; c < subset.size(); ++c) EXPECT_NEAR(found[c], expected[c], 1e-12);
  }
}

TEST(Solvers, MoreColumnsThanRowsStillFit) {
  const Columns wide{{{1, 1}, {1, 2}, {4, 9}}};
  const std::vector<double> y{2, 5};
  const auto columns = wide.pointers();
  LapackSolver faithful;
  LeastSquares quick;
  for (const auto solution : {faithful.solve(columns, y, true), quick.solve(columns, y)}) {
    for (std::size_t k = 0; k < 2; ++k) {
      double f = 0;
      for (std::size_t c = 0; c < 3; ++c) f += solution[c] * wide.values[c][k];
      EXPECT_NEAR(f, y[k], 1e-12);
    }
  }
}

TEST(Solvers, AnswerNanToWhatIsNotFinite) {
  const Columns bad{{{1, 1, 1}, {1, NAN, 3}}};
  const std::vector<double> y{1, 2, 3};
  LapackSolver faithful;
  LeastSquares quick;
  EXPECT_TRUE(std::isnan(faithful.solve(bad.pointers(), y, true)[0]));
  EXPECT_TRUE(std::isnan(quick.solve(bad.pointers(), y)[0]));
}

}  // namespace
}  // namespace fathom
