// Candidate functions of one series over several parameters: sums of products of its parameters' terms.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/lapack_solver.hpp"
#include "model/least_squares.hpp"

namespace fathom {

// A summand is a set of terms that are multiplied: bit a = term a is a factor.
using Summands = std::vector<std::uint32_t>;

// Keeps its buffers between series.
class Candidates {
 public:
  // How coefficients are found: quickly, or with every rounding as the reference.
  enum class Solve : std::uint8_t { quick, faithful };

  struct Candidate {
    std::vector<double> coefficients;  // constant first
    double condition = 1;
    double criterion = 0;
    bool negligible = false;  // some summand is
  };

  // The value of each term at all points, to be filled before prepare().
  std::vector<std::vector<double>>& terms() { return terms_; }
  // `y` must outlive what follows. The criterion is SMAPE, or the residual sum of squares.
  void prepare(std::span<const double> y, std::span<const Summands> list, bool by_rss);

  Candidate evaluate(const Summands& summands, Solve how);
  // The values of such a function at the points, until the next call.
  std::span<const double> predict(std::span<const std::uint32_t> summands, std::span<const double> coefficients,
                                  Solve how);

  // Position of the best in the list. The first stands unless a later one without negligible summands is better.
  std::size_t select(std::span<const Summands> list);
  // Whether rounding may have decided that.
  [[nodiscard]] bool doubtful(std::size_t winner) const;
  // Again, with the reference's rounding, among those that are close to it.
  std::size_t select_faithfully(std::span<const Summands> list, std::size_t winner);
  [[nodiscard]] const Candidate& at(std::size_t position) const { return candidates_[position]; }

 private:
  [[nodiscard]] std::size_t column_of(std::uint32_t mask) const;
  [[nodiscard]] double criterion() const;
  [[nodiscard]] std::size_t winner() const;

  std::span<const double> y_;
  bool rss_ = false;
  std::vector<std::vector<double>> terms_;
  Summands masks_;  // the summand that each column stands for; the first is the constant
  std::vector<std::vector<double>> columns_;
  std::vector<double> share_;  // max |column/y|
  bool reduced_ready_ = false;
  LeastSquares solver_;
  LapackSolver lapack_;
  LeastSquares::Reduced reduced_;
  std::vector<const double*> matrix_;
  std::vector<Candidate> candidates_;
  std::vector<double> predicted_;
};

}  // namespace fathom
