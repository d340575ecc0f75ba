// Adding many rows of plain numbers up, column by column.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/value.hpp"

namespace fathom {

// The sums end in one row of a table. Doubles are added there, in the order in which they come. Integers are added in
// machine words, several at a time, for as long as no word can overflow, and only then to the table's wide ones.
class ColumnSums {
 public:
  ColumnSums(Cells& table, std::size_t row);
  // Packed native-endian values for the columns from `first` on.
  void add(std::size_t first, std::size_t count, const std::byte* values);
  // To be called when all is added.
  void finish();

 private:
  template <class T>
  void add_integers(std::size_t first, std::size_t count, const std::byte* values);

  Cells& table_;
  std::size_t row_;
  std::vector<std::int64_t> words_;
  std::uint64_t bound_ = 0;  // no word is further from zero
};

}  // namespace fathom
