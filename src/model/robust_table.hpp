// Relative least squares of all blocks at once: the inner loop of the robust modeler.
//
// Noise of run times is multiplicative, so residuals are r = 2(v-f)/(v+f), which is ln(v/f) without the logarithm.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "model/search_space.hpp"

namespace fathom {

inline constexpr std::size_t kMaxBlocks = 48;  // 42, padded to whole vectors

class RelativeTable {
 public:
  RelativeTable(std::span<const double> x, std::span<const Block> blocks);

  [[nodiscard]] std::size_t points() const { return points_; }
  [[nodiscard]] std::size_t size() const { return blocks_.size(); }
  [[nodiscard]] const Block& block(std::size_t b) const { return blocks_[b]; }
  // Term b at point k, divided by scale(b).
  [[nodiscard]] double t(std::size_t k, std::size_t b) const { return t_[k * kMaxBlocks + b]; }
  [[nodiscard]] double scale(std::size_t b) const { return scale_[b]; }
  [[nodiscard]] bool pure_possible(std::size_t b) const { return pure_[b]; }
  [[nodiscard]] const double* t_row(std::size_t k) const { return t_.data() + k * kMaxBlocks; }
  [[nodiscard]] const double* log_row(std::size_t k) const { return log_.data() + k * kMaxBlocks; }

 private:
  std::size_t points_;
  std::vector<Block> blocks_;
  std::vector<double> t_, log_;
  std::array<double, kMaxBlocks> scale_{};
  std::array<bool, kMaxBlocks> pure_{};
};

// Sums of squared relative residuals and coefficients (of the scaled terms) for one series.
struct RelativeFits {
  std::array<double, kMaxBlocks> squares{};  // of c0 + c1*t; infinite when the function is not positive
  std::array<double, kMaxBlocks> c0{}, c1{};
  std::array<double, kMaxBlocks> pure{};   // of c*t
  std::array<double, kMaxBlocks> log_c{};  // ln c of the pure term
  double constant = 0;                     // of the constant function
  double log_constant = 0;
};

// `v` > 0. `rounds` of reweighting after the first solution.
void relative_fits(const RelativeTable& table, std::span<const double> v, int rounds, RelativeFits& fits);
// Only the squares of c0 + c1*t, after the first solution.
void line_squares(const RelativeTable& table, std::span<const double> v, std::span<double, kMaxBlocks> squares);

}  // namespace fathom
