#include "model/block_table.hpp"

#include <cmath>

#include "model/least_squares.hpp"

namespace fathom {

namespace {

struct Scratch {
  std::vector<double> rest, w0, w1;
};

// The weights of a fit on all points but one.
void leave_out(std::span<const double> t, std::size_t left, Scratch& scratch, LineWeights* to) {
  const std::size_t n = t.size();
  scratch.rest.clear();
  for (std::size_t k = 0; k < n; ++k) {
    if (k != left) scratch.rest.push_back(t[k]);
  }
  scratch.w0.resize(n - 1);
  scratch.w1.resize(n - 1);
  line_inverse(scratch.rest, scratch.w0, scratch.w1);
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t at = k < left ? k : k - 1;
    to[k] = k == left ? LineWeights{0, 0} : LineWeights{scratch.w0[at], scratch.w1[at]};
  }
}

}  // namespace

BlockTable::BlockTable(std::span<const double> x, std::span<const Block> blocks, bool leave_one_out)
    : x_(x.begin(), x.end()) {
  t_.reserve(blocks.size() * x.size());
  all_.reserve(blocks.size() * x.size());
  for (const auto& block : blocks) {
    if (append(block, leave_one_out)) blocks_.push_back(block);
  }
}

bool BlockTable::append(const Block& block, bool leave_one_out) {
  const std::size_t n = x_.size();
  std::vector<double> t(n);
  for (std::size_t k = 0; k < n; ++k) t[k] = block_value(block, x_[k]);
  std::vector<double> w0(n);
  std::vector<double> w1(n);
  if (!line_inverse(t, w0, w1)) return false;
  t_.insert(t_.end(), t.begin(), t.end());
  for (std::size_t k = 0; k < n; ++k) all_.push_back({w0[k], w1[k]});
  if (!leave_one_out) return true;
  if (n > kMostKept) return true;
  without_.resize(without_.size() + n * n);
  LineWeights* to = without_.data() + without_.size() - n * n;
  Scratch scratch;
  for (std::size_t left = 0; left < n; ++left) leave_out(t, left, scratch, to + left * n);
  return true;
}

const LineWeights* BlockTable::made_without(std::size_t b, std::size_t k) const {
  thread_local Scratch scratch;
  thread_local std::vector<LineWeights> made;
  made.resize(points());
  leave_out({t(b), points()}, k, scratch, made.data());
  return made.data();
}

}  // namespace fathom
