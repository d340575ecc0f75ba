#include "model/lapack_solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

// Fortran: everything by address.
extern "C" void dgelsd_(const int* rows, const int* columns, const int* right_sides, double* matrix,
                        const int* matrix_stride, double* values, const int* values_stride, double* sigma,
                        const double* cutoff, int* rank, double* work, const int* work_size, int* integers, int* info);

namespace fathom {

namespace {
constexpr double kOwnCutoff = -1;  // asks LAPACK for its machine precision
}

std::span<const double> LapackSolver::solve(std::span<const double* const> columns, std::span<const double> y,
                                            bool insist) {
  const auto rows = static_cast<int>(y.size());
  const auto width = static_cast<int>(columns.size());
  const int one = 1;
  const int longest = std::max(rows, width);
  const auto finite = [](double value) { return std::isfinite(value); };
  const auto give_up = [&] {
    solution_.assign(columns.size(), std::numeric_limits<double>::quiet_NaN());
    return std::span<const double>(solution_);
  };
  for (const double* column : columns) {
    if (!std::all_of(column, column + y.size(), finite)) return give_up();
  }
  if (!std::all_of(y.begin(), y.end(), finite)) return give_up();
  sigma_.resize(columns.size());
  const double epsilon = std::numeric_limits<double>::epsilon();
  for (const double cutoff : {epsilon * static_cast<double>(longest), kOwnCutoff}) {
    matrix_.clear();
    for (const double* column : columns) matrix_.insert(matrix_.end(), column, column + y.size());
    solution_.assign(y.begin(), y.end());
    solution_.resize(static_cast<std::size_t>(longest), 0);
    int rank = 0;
    int info = 0;
    int size = -1;  // first asks how much it needs
    double needed = 0;
    int needed_integers = 0;
    dgelsd_(&rows, &width, &one, matrix_.data(), &rows, solution_.data(), &longest, sigma_.data(), &cutoff, &rank,
            &needed, &size, &needed_integers, &info);
    size = static_cast<int>(needed);
    work_.resize(std::max(work_.size(), static_cast<std::size_t>(size)));
    integers_.resize(std::max(integers_.size(), static_cast<std::size_t>(needed_integers)));
    dgelsd_(&rows, &width, &one, matrix_.data(), &rows, solution_.data(), &longest, sigma_.data(), &cutoff, &rank,
            work_.data(), &size, integers_.data(), &info);
    if (info != 0) return give_up();
    if (rank == width || !insist) break;
  }
  return std::span<const double>(solution_).first(columns.size());
}

}  // namespace fathom
