// Decimal digits eight at a time, for loops that read many numbers: without a branch per digit.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace fathom {

inline constexpr std::size_t kDigitsRead = 8;  // bytes that must be there to be looked at

struct Digits {
  std::uint64_t value = 0;
  unsigned count = 0;  // at most 8: there may be more behind them
};

inline Digits read_digits(const char* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, kDigitsRead);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  word ^= 0x3030'3030'3030'3030U;  // digits are 0 to 9 now; of anything else the highest bit is set by one of these
  const std::uint64_t others = ((word + 0x7676'7676'7676'7676U) | word) & 0x8080'8080'8080'8080U;
  const unsigned count = static_cast<unsigned>(std::countr_zero(others)) / 8;
  if (count == 0) return {};
  word <<= 64 - 8 * count;                                      // zeros in front
  word = (word * 10 + (word >> 8)) & 0x00FF'00FF'00FF'00FFU;    // pairs
  word = (word * 100 + (word >> 16)) & 0x0000'FFFF'0000'FFFFU;  // fours
  word = (word * 10'000 + (word >> 32)) & 0x0000'0000'FFFF'FFFFU;
  return {word, count};
}

}  // namespace fathom
