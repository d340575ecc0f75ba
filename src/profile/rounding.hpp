// What is left when equal amounts are taken from each other.
#pragma once

#include <cmath>

namespace fathom {

// Sums that were made in different ways differ in their last digits: what is left of the whole is no more than that.
inline bool is_rounding(double rest, double whole) {
  return std::isfinite(rest) && std::abs(rest) <= 1e-13 * std::abs(whole);
}

}  // namespace fathom
