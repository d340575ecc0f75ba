#include "profile/column_sums.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>

namespace fathom {
namespace {

template <class T>
void expect_exact_sums(ValueKind kind) {
  constexpr std::size_t kColumns = 5;
  constexpr std::size_t kRows = 200;
  const ValueType type{kind};
  Cells table(type, 2, kColumns);
  std::vector<Int128> expected(kColumns, 0);
  std::mt19937_64 random(17);
  ColumnSums sums(table, 1);
  for (std::size_t row = 0; row < kRows; ++row) {
    T values[kColumns];
    // Rows of small numbers, rows of any, and rows of the extremes, so that words fill up and are emptied on the way.
    const auto any = [&] { return static_cast<T>(random()); };
    for (T& value : values) {
      value = row % 3 == 0 ? static_cast<T>(random() % 100) : any();
      if (row % 7 == 0) value = row % 2 == 0 ? std::numeric_limits<T>::max() : std::numeric_limits<T>::min();
    }
    const std::size_t first = row % kColumns;
    const std::size_t count = kColumns - first;
    sums.add(first, count, reinterpret_cast<const std::byte*>(values));
    for (std::size_t i = 0; i < count; ++i) expected[first + i] += values[i];
  }
  sums.finish();
  for (std::size_t i = 0; i < kColumns; ++i) {
    EXPECT_TRUE(table.integers(1)[i] == expected[i]) << "column " << i << " of kind " << static_cast<int>(kind);
    EXPECT_TRUE(table.integers(0)[i] == 0);
  }
}

TEST(ColumnSums, IntegersOfEveryWidthAreExact) {
  expect_exact_sums<std::uint8_t>(ValueKind::u8);
  expect_exact_sums<std::int8_t>(ValueKind::i8);
  expect_exact_sums<std::uint16_t>(ValueKind::u16);
  expect_exact_sums<std::int16_t>(ValueKind::i16);
  expect_exact_sums<std::uint32_t>(ValueKind::u32);
  expect_exact_sums<std::int32_t>(ValueKind::i32);
  expect_exact_sums<std::uint64_t>(ValueKind::u64);
  expect_exact_sums<std::int64_t>(ValueKind::i64);
}

TEST(ColumnSums, DoublesAreAddedInOrder) {
  Cells table(ValueType{ValueKind::f64}, 1, 2);
  ColumnSums sums(table, 0);
  // (1e16 + 1) + 1 rounds to 1e16 twice; any other order would give 1e16 + 2.
  for (const double value : {1e16, 1.0, 1.0}) {
    sums.add(1, 1, reinterpret_cast<const std::byte*>(&value));
  }
  sums.finish();
  EXPECT_EQ(table.reals(0)[0], 0);
  EXPECT_EQ(table.reals(0)[1], 1e16);
}

}  // namespace
}  // namespace fathom
