// What one value of a metric is made of. Layouts are those of the packed bytes that sources hand over.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace fathom {

enum class ValueKind : std::uint8_t {
  u8,
  i8,
  u16,
  i16,
  u32,
  i32,
  u64,
  i64,
  f64,
  min_f64,         // combines by minimum; DBL_MAX = no value
  max_f64,         // combines by maximum; -DBL_MAX = no value
  complex,         // re, im
  rate,            // numerator, duration
  atomic,          // u32 count, then f64 minimum, maximum, sum, sum of squares; 36 bytes, packed
  doubles,         // n f64
  histogram,       // f64 minimum, f64 maximum, n f64 bins
  scale_function,  // up to 30 terms and 10 measurements in 848 bytes
};

struct ValueType {
  ValueKind kind = ValueKind::f64;
  std::uint32_t n = 0;  // of doubles and histogram

  [[nodiscard]] std::size_t size() const;  // bytes of one value
  [[nodiscard]] bool is_integer() const { return kind <= ValueKind::i64; }
  [[nodiscard]] bool is_unsigned() const {
    return kind == ValueKind::u8 || kind == ValueKind::u16 || kind == ValueKind::u32 || kind == ValueKind::u64;
  }
  // One number that adds up: integers and f64.
  [[nodiscard]] bool is_plain_number() const { return kind <= ValueKind::f64; }
  // A single f64 in memory, whatever its way of combining.
  [[nodiscard]] bool is_double() const {
    return kind == ValueKind::f64 || kind == ValueKind::min_f64 || kind == ValueKind::max_f64;
  }
  [[nodiscard]] bool is_composite() const { return kind >= ValueKind::complex; }
  [[nodiscard]] std::string text() const;  // "u64", "histogram(5)"

  friend bool operator==(ValueType, ValueType) = default;
};

inline constexpr std::size_t kScaleFunctionSize = 848;

}  // namespace fathom
