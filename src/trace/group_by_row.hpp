// Things of many rows, in any order, put together by row.
#pragma once

#include <cstdint>
#include <vector>

#include "io/large_array.hpp"

namespace fathom {

// Moves items to where their rows are; those of one row stay in order. Says where each row begins.
template <class T, class RowOf>
std::vector<std::size_t> group_by_row(LargeArray<T>& items, std::uint32_t rows, ArrayPool& pool, const RowOf& row_of) {
  std::vector<std::size_t> first(rows + std::size_t{1});
  bool grouped = true;
  std::uint32_t before = 0;
  for (const T& item : items) {
    const std::uint32_t row = row_of(item);
    ++first[row + std::size_t{1}];
    grouped = grouped && row >= before;
    before = row;
  }
  for (std::size_t i = 0; i < rows; ++i) first[i + 1] += first[i];
  if (grouped) return first;
  LargeArray<T> sorted(pool);
  sorted.resize_for_overwrite(items.size());
  if (sorted.size() != items.size()) return first;  // the pool knows why
  std::vector<std::size_t> at(first.begin(), first.end() - 1);
  for (const T& item : items) sorted[at[row_of(item)]++] = item;
  items = std::move(sorted);
  return first;
}

}  // namespace fathom
