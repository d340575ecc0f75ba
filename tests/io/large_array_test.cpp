#include "io/large_array.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace fathom {
namespace {

TEST(LargeArray, KeepsItsItemsWhenItMovesToAFile) {
  ArrayPool pool(std::uint64_t{64} << 10);
  LargeArray<std::uint64_t> array(pool);
  for (std::uint64_t i = 0; i < 100'000; ++i) array.push_back(i * i);
  ASSERT_TRUE(pool.status().ok());
  EXPECT_GT(pool.in_files(), 0U);
  ASSERT_EQ(array.size(), 100'000U);
  for (std::uint64_t i = 0; i < array.size(); ++i) ASSERT_EQ(array[i], i * i);
}

TEST(LargeArray, GivesMemoryBack) {
  ArrayPool pool(std::uint64_t{1} << 20);
  for (int n = 0; n < 100; ++n) {
    LargeArray<std::uint32_t> array(pool);
    array.resize(100'000);
    EXPECT_EQ(array[99'999], 0U);
  }
  EXPECT_EQ(pool.in_files(), 0U);
}

// More arrays in files than a process may have open.
TEST(LargeArray, NeedsNoDescriptors) {
  ArrayPool pool(0);
  std::vector<LargeArray<int>> arrays;
  for (int n = 0; n < 3000; ++n) {
    arrays.emplace_back(pool).push_back(n);
  }
  ASSERT_TRUE(pool.status().ok());
  for (int n = 0; n < 3000; ++n) EXPECT_EQ(arrays[static_cast<std::size_t>(n)][0], n);
}

TEST(LargeArray, MovesItsContents) {
  ArrayPool pool(std::uint64_t{1} << 20);
  LargeArray<int> first(pool);
  first.push_back(7);
  LargeArray<int> second(std::move(first));
  EXPECT_EQ(second.size(), 1U);
  EXPECT_EQ(second[0], 7);
  second.push_back(8);
  EXPECT_EQ(second.back(), 8);
}

}  // namespace
}  // namespace fathom
