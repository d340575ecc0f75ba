// Everything about a list of terms at fixed coordinates that does not depend on the measured values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/search_space.hpp"

namespace fathom {

// Weights by which a coefficient pair follows from the values: c0 = sum w0*y, c1 = sum w1*y.
struct LineWeights {
  double w0, w1;
};

class BlockTable {
 public:
  // Terms that are not finite at some coordinate are left out: no fit of them is valid.
  BlockTable(std::span<const double> x, std::span<const Block> blocks, bool leave_one_out = true);

  [[nodiscard]] std::size_t size() const { return blocks_.size(); }
  [[nodiscard]] std::size_t points() const { return x_.size(); }
  [[nodiscard]] std::span<const double> x() const { return x_; }
  [[nodiscard]] const Block& block(std::size_t b) const { return blocks_[b]; }
  [[nodiscard]] std::uint64_t bytes() const {
    return (t_.capacity() + x_.capacity()) * sizeof(double) + blocks_.capacity() * sizeof(Block) +
           (all_.capacity() + without_.capacity()) * sizeof(LineWeights);
  }
  // t(x_k)
  [[nodiscard]] const double* t(std::size_t b) const { return t_.data() + b * points(); }
  // Fit on all points.
  [[nodiscard]] const LineWeights* all(std::size_t b) const { return all_.data() + b * points(); }
  // Whether there are so many points that going through all of them for each one that is left out takes too long.
  [[nodiscard]] bool long_work() const { return points() > kMostKept; }
  // Fit on all points but k; the weight of k itself is zero. Holds until this thread asks again.
  [[nodiscard]] const LineWeights* without(std::size_t b, std::size_t k) const {
    if (long_work()) return made_without(b, k);
    return without_.data() + (b * points() + k) * points();
  }

 private:
  // Weights that leave one out grow with the square of the points, for every term: they would take 700 MB for 1,000.
  // Beyond this many points they are made each time, for what does not follow from sums.
  static constexpr std::size_t kMostKept = 256;

  bool append(const Block& block, bool leave_one_out);
  [[nodiscard]] const LineWeights* made_without(std::size_t b, std::size_t k) const;

  std::vector<double> x_;
  std::vector<Block> blocks_;
  std::vector<double> t_;
  std::vector<LineWeights> all_;
  std::vector<LineWeights> without_;
};

}  // namespace fathom
