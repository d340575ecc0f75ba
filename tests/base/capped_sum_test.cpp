#include "base/capped_sum.hpp"

#include <gtest/gtest.h>

namespace fathom {
namespace {

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

TEST(CappedSum, StaysAtTheLargestAndTheSmallest) {
  CappedSum sum;
  EXPECT_EQ(sum, 0);
  EXPECT_EQ(sum += 5, 5);
  EXPECT_EQ(sum += kMost, kMost);
  EXPECT_EQ(sum += -1, kMost - 1);
  CappedSum less(-2);
  EXPECT_EQ(less += kLeast, kLeast);
  EXPECT_EQ(less.value(), kLeast);
}

TEST(CappedSum, TimeThatPassed) {
  EXPECT_EQ(passed(-3, 4), 7);
  EXPECT_EQ(passed(kLeast, 4), kMost);
  EXPECT_EQ(passed(0, kMost), kMost);
  EXPECT_EQ(since(-3, 4), 7U);
  EXPECT_EQ(since(kLeast, kMost), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(since(5, 4), 0U);
}

}  // namespace
}  // namespace fathom
