#include "base/median.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace fathom {
namespace {

TEST(Median, IsWhatSortingSays) {
  std::mt19937 random(7);
  std::uniform_int_distribution<int> value(-5, 5);  // many are equal
  for (std::size_t n = 1; n <= 40; ++n) {
    for (int round = 0; round < 50; ++round) {
      std::vector<double> values(n);
      for (double& v : values) v = value(random);
      std::vector<double> sorted = values;
      std::sort(sorted.begin(), sorted.end());
      EXPECT_EQ(median_of(values), (sorted[(n - 1) / 2] + sorted[n / 2]) / 2) << n;
    }
  }
}

TEST(Median, OfNothingIsNoNumber) { EXPECT_TRUE(std::isnan(median_of({}))); }

}  // namespace
}  // namespace fathom
