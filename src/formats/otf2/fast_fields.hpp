// Fields of records, read fast: numbers are loaded whole and masked.
#pragma once

#include <array>

#include "formats/otf2/fields.hpp"

namespace fathom::otf2 {

inline constexpr std::array<std::uint64_t, 9> kMasks = {
    0, 0xFF, 0xFFFF, 0xFFFFFF, 0xFFFFFFFF, 0xFFFFFFFFFF, 0xFFFFFFFFFFFF, 0xFFFFFFFFFFFFFF, ~std::uint64_t{0}};

inline std::uint8_t byte_at(const std::byte* at) { return static_cast<std::uint8_t>(*at); }

// A compact integer of at most `width` bytes; moves on. Up to eight bytes more than it has may be looked at, but none
// beyond `limit`.
template <bool little>
inline bool compact(const std::byte*& at, const std::byte* end, const std::byte* limit, unsigned width,
                    std::uint64_t& value) {
  if (at >= end) [[unlikely]] {
    return false;
  }
  const unsigned size = byte_at(at);
  if (size <= width) [[likely]] {
    if (limit - at > 8) [[likely]] {
      const auto raw = load_unchecked<std::uint64_t>(at + 1, little ? Endian::little : Endian::big);
      if constexpr (little) {
        value = raw & kMasks[size];
      } else {
        value = size == 0 ? 0 : raw >> (64 - 8 * size);
      }
    } else {
      if (end - at - 1 < static_cast<std::ptrdiff_t>(size)) return false;
      value = load_bytes(at + 1, size, little);
    }
    at += 1 + size;
    return at <= end;
  }
  ++at;
  value = width == 4 ? std::uint64_t{kUndefined32} : kUndefined64;
  return size == 0xFF;
}

// Fields of a record in the order of the file; the first that cannot be right makes all bad. Absent ones are 0 or what
// the caller says.
template <bool little>
class FastFields {
 public:
  FastFields(const std::byte* begin, const std::byte* end, const std::byte* limit)
      : at_(begin), end_(end), limit_(limit) {}
  [[nodiscard]] bool ok() const { return ok_; }
  std::uint8_t u8() { return at_ < end_ ? byte_at(at_++) : std::uint8_t{0}; }
  std::uint64_t u64() {
    if (end_ - at_ < 8) {
      ok_ = false;
      return 0;
    }
    at_ += 8;
    return load_unchecked<std::uint64_t>(at_ - 8, little ? Endian::little : Endian::big);
  }
  std::uint32_t c32(std::uint32_t absent = 0) { return static_cast<std::uint32_t>(any(4, absent)); }
  std::uint64_t c64(std::uint64_t absent = 0) { return any(8, absent); }

 private:
  std::uint64_t any(unsigned width, std::uint64_t absent) {
    if (at_ >= end_) return absent;
    std::uint64_t value = 0;
    if (!compact<little>(at_, end_, limit_, width, value)) ok_ = false;
    return ok_ ? value : 0;
  }
  const std::byte* at_;
  const std::byte* end_;
  const std::byte* limit_;
  bool ok_ = true;
};

}  // namespace fathom::otf2
