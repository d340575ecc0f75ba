// The search of the robust modeler over sums of products: all subsets of the columns that a combination of terms gives.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "model/robust.hpp"

namespace fathom {

inline constexpr double kInteraction = 2;  // price of an extra factor in a product

// A subset of the columns of one combination of terms.
struct Pick {
  static constexpr std::size_t kMostColumns = RelativeSolver::kMostColumns;
  double value = std::numeric_limits<double>::infinity();  // of the scoring, smaller is better
  std::array<std::uint16_t, 3> candidate{};                // block of each parameter's axis
  std::array<std::uint8_t, kMostColumns> column{};         // bit p = parameter p is a factor
  std::uint8_t count = 0;
  std::uint32_t order = 0;  // in which the search met it: of equal ones the first is the better
};

// What the search remembers of the models that it has met. The scoring must outlive it.
struct BestPicks {
  static constexpr std::size_t kMostExtraFactors = 2 * Pick::kMostColumns;
  BestPicks(const Scoring& how, std::size_t count);
  [[nodiscard]] double worst() const {
    return picks.size() < keep ? std::numeric_limits<double>::infinity() : picks.front().value;
  }
  static bool better(const Pick& a, const Pick& b) {
    return a.value != b.value ? a.value < b.value : a.order < b.order;
  }
  void add(const Pick& pick);
  // Best first.
  [[nodiscard]] std::vector<Pick> sorted() &&;

  const Scoring& scoring;
  std::size_t keep;
  // Factors of the scoring's value for columns and extra factors, and for negative coefficients.
  std::array<std::array<double, kMostExtraFactors + 1>, Pick::kMostColumns + 1> price{};
  std::array<double, Pick::kMostColumns + 1> negative{};
  std::vector<Pick> picks;  // a heap, the worst first
  std::uint32_t met = 0;
};

// Columns are padded with zeros to whole vectors.
std::size_t padded(std::size_t points);
// Products of columns [from, columns) with all before them, and the sums of these columns. `matrix` has `stride`
// numbers per column.
void fill_gram(std::span<const double> matrix, std::size_t columns, std::size_t stride, std::size_t from,
               std::span<double> gram, std::span<double> target);

// Depth-first over subsets of up to four columns with a growing Cholesky factor.
class SubsetSearch {
 public:
  static constexpr std::size_t kMostAllColumns = 8;  // three parameters
  // `gram` and `target` are looked at in every run. `floor`: sum of squares that is rounding.
  SubsetSearch(BestPicks& best, std::size_t columns, std::span<const double> gram, std::span<const double> target,
               double floor)
      : best_(best), columns_(columns), gram_(gram), target_(target), floor_(floor) {}

  // `required`: parameters that a model must use for this combination to be the first that has it. `whole`: sum of
  // squares without any column.
  void run(const std::array<std::uint16_t, 3>& candidate, std::uint8_t required, double whole);

 private:
  [[nodiscard]] double least_squares(double whole) const;
  void descend(std::size_t start, double rss, std::size_t extra, std::uint8_t used);
  void offer(double value);

  BestPicks& best_;
  std::size_t columns_;
  std::span<const double> gram_, target_;
  double floor_;
  double least_ = 0;  // sum of squares with all columns
  std::uint8_t required_ = 0;
  Pick pick_;
  std::array<std::array<double, Pick::kMostColumns>, Pick::kMostColumns> l_{};
  std::array<double, Pick::kMostColumns> z_{};
};

}  // namespace fathom
