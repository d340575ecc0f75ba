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

// Exactly four and exactly eight digits; value < 10^4, 10^8.
inline char* put_four(char* to, std::uint32_t value) { return put_pair(put_pair(to, value / 100), value % 100); }
inline char* put_eight(char* to, std::uint32_t value) { return put_four(put_four(to, value / 10'000), value % 10'000); }
// As many digits as it takes; those that are there in any case stand where they belong at once.
inline char* put_up_to_two(char* to, std::uint32_t value) {
  if (value >= 10) return put_pair(to, value);
  *to = static_cast<char>('0' + value);
  return to + 1;
}
inline char* put_up_to_four(char* to, std::uint32_t value) {
  return value < 100 ? put_up_to_two(to, value) : put_pair(put_up_to_two(to, value / 100), value % 100);
}
inline char* put_up_to_eight(char* to, std::uint32_t value) {
  return value < 10'000 ? put_up_to_four(to, value) : put_four(put_up_to_four(to, value / 10'000), value % 10'000);
}
// Long numbers, as times are, in blocks of eight digits that do not wait for each other.
inline char* put_integer(char* to, std::uint64_t value) {
  constexpr std::uint64_t kBlock = 100'000'000;
  if (value < kBlock) return put_up_to_eight(to, static_cast<std::uint32_t>(value));
  const std::uint64_t high = value / kBlock;
  const auto low = static_cast<std::uint32_t>(value % kBlock);
  if (high < kBlock) return put_eight(put_up_to_eight(to, static_cast<std::uint32_t>(high)), low);
  to = put_up_to_four(to, static_cast<std::uint32_t>(high / kBlock));
  return put_eight(put_eight(to, static_cast<std::uint32_t>(high % kBlock)), low);
}
inline char* put_integer(char* to, std::int64_t value) {
  const auto natural = static_cast<std::uint64_t>(value);
  if (natural < 100) return put_up_to_two(to, static_cast<std::uint32_t>(natural));  // as most arguments of calls are
  if (value >= 0) return put_integer(to, natural);
  *to++ = '-';
  return put_integer(to, 0 - natural);
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
  const char* end = text_writing::put_integer(digits, value);
  out.append(digits, static_cast<std::size_t>(end - digits));
}

}  // namespace fathom
