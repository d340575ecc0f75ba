#include "profile/composite.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

namespace fathom {
namespace {

using Histogram = std::array<double, 4>;  // from, to, two bins

Histogram sum(Histogram a, Histogram b) {
  std::array<std::byte, sizeof(Histogram)> target{};
  std::array<std::byte, sizeof(Histogram)> other{};
  std::memcpy(target.data(), a.data(), target.size());
  std::memcpy(other.data(), b.data(), other.size());
  composite::plus({ValueKind::histogram, 2}, target.data(), other.data());
  std::memcpy(a.data(), target.data(), target.size());
  return a;
}

// Where a file has no row there is no range that could widen another one.
TEST(Composite, AHistogramThatIsNotThereLeavesTheOtherAsItIs) {
  const Histogram stored{8, 10, 3, 5};
  EXPECT_EQ(sum({}, stored), stored);
  EXPECT_EQ(sum(stored, {}), stored);
  EXPECT_EQ(sum({}, {}), Histogram{});
}

TEST(Composite, HistogramsAreSpreadOverTheRangeOfBoth) {
  EXPECT_EQ(sum({8, 10, 3, 5}, {8, 12, 4, 2}), (Histogram{8, 12, 12, 2}));
}

}  // namespace
}  // namespace fathom
