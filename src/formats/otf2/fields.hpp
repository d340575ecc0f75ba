// Fields of one record, in the byte order of its chunk. Reading past the record's end gives what the caller names:
// older writers leave the last fields out.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>

#include "io/byte_cursor.hpp"

namespace fathom::otf2 {

inline constexpr std::uint32_t kUndefined32 = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::uint64_t kUndefined64 = std::numeric_limits<std::uint64_t>::max();

inline std::uint64_t load_bytes(const std::byte* at, unsigned count, bool little) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < count; ++i) {
    const auto byte = static_cast<std::uint64_t>(at[little ? count - 1 - i : i]);
    value = value << 8 | byte;
  }
  return value;
}

class Fields {
 public:
  Fields(const std::byte* begin, const std::byte* end, bool little) : at_(begin), end_(end), little_(little) {}

  [[nodiscard]] bool more() const { return at_ < end_; }
  // A field that is there and cannot be right: a size that is none, a number or text that runs over the end.
  [[nodiscard]] bool bad() const { return bad_; }
  [[nodiscard]] const std::byte* at() const { return at_; }
  [[nodiscard]] std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }

  std::uint8_t u8(std::uint8_t absent = 0) { return more() ? static_cast<std::uint8_t>(*at_++) : absent; }
  std::uint64_t u64() { return full(8); }
  double f64() { return std::bit_cast<double>(full(8)); }
  std::uint32_t c32(std::uint32_t absent = 0) { return more() ? static_cast<std::uint32_t>(compact(4)) : absent; }
  std::uint64_t c64(std::uint64_t absent = 0) { return more() ? compact(8) : absent; }
  std::int64_t s64() { return static_cast<std::int64_t>(c64()); }
  std::string_view text() {
    const void* const zero = left() > 0 ? std::memchr(at_, 0, left()) : nullptr;
    if (zero == nullptr) {
      bad_ = true;
      at_ = end_;
      return {};
    }
    const auto* const stop = static_cast<const std::byte*>(zero);
    const std::string_view found(reinterpret_cast<const char*>(at_), static_cast<std::size_t>(stop - at_));
    at_ = stop + 1;
    return found;
  }
  // A value of an attribute or property, by its type: the bits.
  std::uint64_t value(std::uint8_t type) {
    switch (type) {
      case 1:
      case 5:
        return full(1);
      case 2:
      case 6:
        return full(2);
      case 9:
        return full(4);
      case 10:
        return full(8);
      default:
        return c64();
    }
  }

 private:
  std::uint64_t full(unsigned size) {
    if (left() < size) {
      bad_ = true;
      at_ = end_;
      return 0;
    }
    const std::uint64_t value = load_bytes(at_, size, little_);
    at_ += size;
    return value;
  }
  std::uint64_t compact(unsigned width) {
    const auto size = static_cast<unsigned>(*at_++);
    if (size == 0xFF) return width == 4 ? std::uint64_t{kUndefined32} : kUndefined64;
    if (size > width) {
      bad_ = true;
      at_ = end_;
      return 0;
    }
    return full(size);
  }

  const std::byte* at_;
  const std::byte* end_;
  bool little_;
  bool bad_ = false;
};

// Types of attribute and property values, as far as they are told apart.
enum ValueTypeCode : std::uint8_t {
  kTypeNone = 0,
  kTypeUint8,
  kTypeUint16,
  kTypeUint32,
  kTypeUint64,
  kTypeInt8,
  kTypeInt16,
  kTypeInt32,
  kTypeInt64,
  kTypeFloat,
  kTypeDouble,
  kTypeString,
};

}  // namespace fathom::otf2
