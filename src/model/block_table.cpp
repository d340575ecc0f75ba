#include "model/block_table.hpp"

#include <cmath>

#include "model/least_squares.hpp"

namespace fathom {

BlockTable::BlockTable(std::span<const double> x, std::span<const Block> blocks, bool leave_one_out)
    : x_(x.begin(), x.end()) {
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
  for (std::size_t left = 0; left < n; ++left) {
    std::vector<double> rest;
    for (std::size_t k = 0; k < n; ++k) {
      if (k != left) rest.push_back(t[k]);
    }
    line_inverse(rest, std::span(w0).first(n - 1), std::span(w1).first(n - 1));
    for (std::size_t k = 0; k < n; ++k) {
      if (k == left) {
        without_.push_back({0, 0});
      } else {
        const std::size_t at = k < left ? k : k - 1;
        without_.push_back({w0[at], w1[at]});
      }
    }
  }
  return true;
}

}  // namespace fathom
