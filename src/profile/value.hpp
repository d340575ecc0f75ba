// Values and how they combine: plus when aggregating, minus when making exclusive, one scalar for ranking.
//
// While being combined, values live in one of three forms: integers as 128 bits (no sum of counters overflows), single
// doubles as they are, composites packed as in the file.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/number.hpp"
#include "defs/value_type.hpp"
#include "io/blob.hpp"

namespace fathom {

enum class Form : std::uint8_t { integer, real, packed };

inline Form form_of(ValueType type) {
  if (type.is_integer()) return Form::integer;
  return type.is_double() ? Form::real : Form::packed;
}

// One value, detached from any table.
class Value {
 public:
  Value() = default;
  Value(ValueType type, Int128 integer) : type_(type), integer_(integer) {}
  Value(ValueType type, double real) : type_(type), real_(real) {}
  Value(ValueType type, Bytes packed) : type_(type), packed_(packed.begin(), packed.end()) {}

  [[nodiscard]] ValueType type() const { return type_; }
  [[nodiscard]] Int128 integer() const { return integer_; }
  // The number to show and rank by: modulus of a complex, mean of an atomic, sum of bins, ...
  [[nodiscard]] double scalar() const;
  // Every bit zero, or a double that equals zero.
  [[nodiscard]] bool is_zero() const;
  // Exact; components in file order joined with ';'.
  [[nodiscard]] std::string text() const;

 private:
  ValueType type_;
  Int128 integer_ = 0;
  double real_ = 0;
  std::vector<std::byte> packed_;
};

// A table of values of one type, rows × columns, all zero at first.
// MT: distinct rows may be changed by distinct threads.
class Cells {
 public:
  Cells() = default;
  Cells(ValueType type, std::size_t rows, std::size_t columns);

  [[nodiscard]] ValueType type() const { return type_; }
  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t columns() const { return columns_; }
  [[nodiscard]] Value at(std::size_t row, std::size_t column) const;
  [[nodiscard]] double scalar(std::size_t row, std::size_t column) const;
  [[nodiscard]] bool is_zero(std::size_t row, std::size_t column) const;

  // Sets cells of a row from packed native-endian values: value i goes to columns[i], or to first + i.
  void store(std::size_t row, std::span<const std::uint32_t> columns, const std::byte* values);
  void store(std::size_t row, std::size_t first, std::size_t count, const std::byte* values);
  // Folds packed values into one cell; `fresh` says that it holds nothing yet (minima do not start from zero).
  void fold(std::size_t row, std::size_t column, const std::byte* values, std::size_t count, bool fresh);
  // row `to` = row `to` + row `from` of another table of the same type and width.
  void add_row(std::size_t to, const Cells& other, std::size_t from);
  void copy_row(std::size_t to, const Cells& other, std::size_t from);
  // Adds one cell of another table of the same type; `fresh` says that the target holds nothing yet.
  void add_cell(std::size_t row, std::size_t column, const Cells& other, std::size_t from_row, std::size_t from_column,
                bool fresh);
  // row `to` = row `to` - row `from`.
  void subtract_row(std::size_t to, const Cells& other, std::size_t from);
  // Unsigned values below zero become zero; says how many there were.
  std::size_t clamp_row(std::size_t row);

  // The raw forms, for loops that know theirs.
  [[nodiscard]] std::span<Int128> integers(std::size_t row) { return {integers_.data() + row * columns_, columns_}; }
  [[nodiscard]] std::span<const Int128> integers(std::size_t row) const {
    return {integers_.data() + row * columns_, columns_};
  }
  [[nodiscard]] std::span<double> reals(std::size_t row) { return {reals_.data() + row * columns_, columns_}; }
  [[nodiscard]] std::span<const double> reals(std::size_t row) const {
    return {reals_.data() + row * columns_, columns_};
  }
  [[nodiscard]] std::byte* raw(std::size_t row, std::size_t column) { return packed(row, column); }
  [[nodiscard]] const std::byte* raw(std::size_t row, std::size_t column) const { return packed(row, column); }
  // Memory that such a table takes.
  static std::uint64_t bytes_needed(ValueType type, std::uint64_t rows, std::uint64_t columns);

 private:
  [[nodiscard]] std::byte* packed(std::size_t row, std::size_t column) {
    return packed_.data() + (row * columns_ + column) * type_.size();
  }
  [[nodiscard]] const std::byte* packed(std::size_t row, std::size_t column) const {
    return packed_.data() + (row * columns_ + column) * type_.size();
  }

  ValueType type_;
  std::size_t rows_ = 0;
  std::size_t columns_ = 0;
  std::vector<Int128> integers_;
  std::vector<double> reals_;
  std::vector<std::byte> packed_;
};

// Packed values of `count` cells, converted from the combined form back to the type's own bytes. Integers that do not
// fit their type are reported by returning false.
bool pack_row(const Cells& cells, std::size_t row, std::span<std::byte> out);

// a - b of two doubles as profiles do it: zero when they agree to two units in the last place.
double difference(double a, double b);

}  // namespace fathom
