#include "io/large_array.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "io/spare_arrays.hpp"

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

// Copies lie next to each other; one that grows after all moves away and the others keep what they have.
TEST(LargeArray, CopiesShareMemory) {
  ArrayPool pool(std::uint64_t{64} << 20);
  std::vector<LargeArray<std::uint64_t>> copies;
  for (std::uint64_t n = 0; n < 300; ++n) {
    const std::vector<std::uint64_t> items(n * 37, n);
    copies.emplace_back(pool, items);
  }
  for (std::uint64_t i = 0; i < 10'000; ++i) copies[7].push_back(i);
  copies[8] = {};
  for (std::uint64_t n = 9; n < copies.size(); ++n) {
    ASSERT_EQ(copies[n].size(), n * 37);
    for (const std::uint64_t item : copies[n]) ASSERT_EQ(item, n);
  }
  ASSERT_EQ(copies[7].size(), 7 * 37 + 10'000U);
  EXPECT_EQ(copies[7][7 * 37 - 1], 7U);
  EXPECT_EQ(copies[7].back(), 9'999U);
  EXPECT_EQ(pool.in_files(), 0U);
}

TEST(LargeArray, CopiesGoToFilesWhereThereIsNoRoom) {
  ArrayPool pool(1000);
  const std::vector<std::uint32_t> items(100'000, 3);
  const LargeArray<std::uint32_t> copy(pool, items);
  ASSERT_TRUE(pool.status().ok());
  EXPECT_EQ(pool.in_files(), 400'000U);
  ASSERT_EQ(copy.size(), 100'000U);
  EXPECT_EQ(copy.back(), 3U);
}

// As much as all together could not have.
TEST(LargeArray, CopiesGiveMemoryBack) {
  ArrayPool pool(std::uint64_t{1} << 20);
  const std::vector<std::uint32_t> items(200'000, 3);
  for (int n = 0; n < 100; ++n) EXPECT_EQ(LargeArray<std::uint32_t>(pool, items).back(), 3U);
  EXPECT_EQ(pool.in_files(), 0U);
}

TEST(SpareArrays, AreFilledWhereTheOneBeforeWas) {
  ArrayPool pool(std::uint64_t{64} << 20);
  SpareArrays<int> spare(pool);
  LargeArray<int> first = spare.take();
  for (int i = 0; i < 1000; ++i) first.push_back(i);
  const int* const place = first.data();
  first = spare.settled(std::move(first));
  LargeArray<int> second = spare.take();
  EXPECT_TRUE(second.empty());
  second.push_back(7);
  EXPECT_EQ(second.data(), place);
  second = spare.settled(std::move(second));
  ASSERT_EQ(first.size(), 1000U);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(first[static_cast<std::size_t>(i)], i);
  ASSERT_EQ(second.size(), 1U);
  EXPECT_EQ(second[0], 7);
}

TEST(SpareArrays, LeaveLargeOnesWhereTheyAre) {
  ArrayPool pool(std::uint64_t{64} << 20);
  SpareArrays<std::uint64_t> spare(pool);
  LargeArray<std::uint64_t> array = spare.take();
  array.resize(std::size_t{2} << 20);
  const std::uint64_t* const place = array.data();
  array = spare.settled(std::move(array));
  EXPECT_EQ(array.data(), place);
}

}  // namespace
}  // namespace fathom
