// Numbers as text straight into a buffer, for hot output loops: no locale, no allocation. Each function writes what
// exact_text() gives and returns the end; the constants say how much room is needed at most.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>

#include "base/number.hpp"
#include "base/text_buffer.hpp"

namespace fathom::text_writing {

inline constexpr std::size_t kNumberRoom = 48;  // of any number below

// Exactly eight digits; value < 10^8.
inline char* put_eight(char* to, std::uint32_t value) {
  const std::uint32_t high = value / 10000;
  const std::uint32_t low = value % 10000;
  to = put_pair(to, high / 100);
  to = put_pair(to, high % 100);
  to = put_pair(to, low / 100);
  return put_pair(to, low % 100);
}
// Long numbers, as times are, in blocks of eight digits that do not wait for each other.
inline char* put_integer(char* to, std::uint64_t value) {
  constexpr std::uint64_t kBlock = 100'000'000;
  if (value < kBlock) return put_unsigned(to, value);
  if (value < kBlock * kBlock) {
    to = put_unsigned(to, value / kBlock);
    return put_eight(to, static_cast<std::uint32_t>(value % kBlock));
  }
  const std::uint64_t rest = value % (kBlock * kBlock);
  to = put_unsigned(to, value / (kBlock * kBlock));
  to = put_eight(to, static_cast<std::uint32_t>(rest / kBlock));
  return put_eight(to, static_cast<std::uint32_t>(rest % kBlock));
}
inline char* put_integer(char* to, std::int64_t value) {
  if (value >= 0) return put_integer(to, static_cast<std::uint64_t>(value));
  *to++ = '-';
  return put_integer(to, 0 - static_cast<std::uint64_t>(value));
}

// "nan", "inf", "-inf" for what is no number.
inline char* put_real(char* to, double value) {
  if (!std::isfinite(value)) return put(to, std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
  return std::to_chars(to, to + kNumberRoom, value).ptr;
}

inline char* put_sum(char* to, Int128 value) {
  if (value >= INT64_MIN && value <= INT64_MAX) return put_integer(to, static_cast<std::int64_t>(value));
  return put(to, exact_text(value));
}

// Nanoseconds as seconds with nine decimals.
inline char* put_seconds(char* to, std::int64_t ns) {
  if (ns < 0) *to++ = '-';
  const std::uint64_t size = ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  to = put_unsigned(to, size / 1'000'000'000);
  *to++ = '.';
  return put_nine(to, static_cast<std::uint32_t>(size % 1'000'000'000));
}

}  // namespace fathom::text_writing

namespace fathom {

inline void append_number(std::string& out, std::int64_t value) {
  char digits[text_writing::kNumberRoom];
  const char* end = text_writing::put_signed(digits, value);
  out.append(digits, static_cast<std::size_t>(end - digits));
}

}  // namespace fathom
