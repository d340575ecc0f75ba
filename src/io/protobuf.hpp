// Protocol buffers without a schema compiler: fields one after another from bytes, and messages built in a text.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "io/byte_cursor.hpp"

namespace fathom::protobuf {

enum class Wire : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

struct Field {
  std::uint32_t number = 0;
  Wire wire = Wire::varint;
  std::uint64_t value = 0;  // of all but bytes
  std::string_view bytes;   // of bytes

  [[nodiscard]] std::int64_t integer() const { return static_cast<std::int64_t>(value); }
};

// How a field begins.
constexpr std::uint64_t key_of(std::uint32_t number, Wire wire) {
  return std::uint64_t{number} << 3 | static_cast<std::uint64_t>(wire);
}

// The fields of one message. Ends at the first malformed one: failed() says what is wrong, at() where.
class Reader {
 public:
  explicit Reader(std::string_view message)
      : begin_(message.data()), end_(begin_ + message.size()), at_(begin_), start_(begin_) {}

  bool next(Field& field) {
    if (at_ == end_ || failed_ != nullptr) return false;
    start_ = at_;
    std::uint64_t key = 0;
    if (!varint(key)) return fail("a varint does not end");
    field.number = static_cast<std::uint32_t>(key >> 3);
    if (key >> 3 == 0 || key >> 32 != 0) return fail("a field has an impossible number");
    field.wire = static_cast<Wire>(key & 7);
    field.bytes = {};
    switch (field.wire) {
      case Wire::varint:
        return varint(field.value) || fail("a varint does not end");
      case Wire::fixed64:
        return fixed<std::uint64_t>(field) || fail("a field of 8 bytes is cut off");
      case Wire::fixed32:
        return fixed<std::uint32_t>(field) || fail("a field of 4 bytes is cut off");
      case Wire::bytes: {
        std::uint64_t size = 0;
        if (!varint(size)) return fail("a varint does not end");
        if (size > left()) return fail("a field is longer than what is left");
        field.bytes = {at_, size};
        at_ += size;
        return true;
      }
      default:
        return fail("a field has an unknown wire type");
    }
  }

  [[nodiscard]] const char* failed() const { return failed_; }
  // Where the field begins that next() met last.
  [[nodiscard]] std::size_t at() const { return static_cast<std::size_t>(start_ - begin_); }

  // Up to ten bytes; false when it does not end or there is no more.
  bool varint(std::uint64_t& value) {
    // Most numbers are small.
    if (at_ != end_ && static_cast<std::uint8_t>(*at_) < 0x80) {
      value = static_cast<std::uint8_t>(*at_++);
      return true;
    }
    return long_varint(value);
  }
  // A number of bytes and as many; false when there are less.
  bool bytes(std::string_view& bytes) {
    std::uint64_t size = 0;
    if (!varint(size) || size > left()) return false;
    bytes = {at_, size};
    at_ += size;
    return true;
  }
  [[nodiscard]] bool at_end() const { return at_ == end_; }

 private:
  [[nodiscard]] std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
  bool long_varint(std::uint64_t& value) {
    if (left() >= 8) {
      // All of it at once: the bits of bytes with a mark and of the first without one move together.
      auto word = load_unchecked<std::uint64_t>(reinterpret_cast<const std::byte*>(at_), Endian::little);
      const std::uint64_t last = ~word & 0x8080'8080'8080'8080U;
      if (last != 0) {
        word &= last ^ (last - 1);  // up to the lowest of them
        word = (word & 0x007F'007F'007F'007FU) | (word & 0x7F00'7F00'7F00'7F00U) >> 1;
        word = (word & 0x0000'3FFF'0000'3FFFU) | (word & 0x3FFF'0000'3FFF'0000U) >> 2;
        value = (word & 0x0000'0000'0FFF'FFFFU) | (word & 0x0FFF'FFFF'0000'0000U) >> 4;
        at_ += static_cast<std::size_t>(std::countr_zero(last)) / 8 + 1;
        return true;
      }
    }
    constexpr std::size_t kLongest = 10;
    const char* const end = at_ + std::min(left(), kLongest);
    value = 0;
    for (unsigned shift = 0; at_ != end; shift += 7) {
      const auto byte = static_cast<std::uint8_t>(*at_++);
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }
  template <class T>
  bool fixed(Field& field) {
    if (left() < sizeof(T)) return false;
    field.value = load_unchecked<T>(reinterpret_cast<const std::byte*>(at_), Endian::little);
    at_ += sizeof(T);
    return true;
  }
  bool fail(const char* what) {
    failed_ = what;
    return false;
  }

  const char* begin_;
  const char* end_;
  const char* at_;
  const char* start_;  // of the field
  const char* failed_ = nullptr;
};

// Repeated integers come packed in one field or one by one: calls `take` for each. False when one does not end.
template <class Take>
bool integers(const Field& field, Take&& take) {
  if (field.wire != Wire::bytes) {
    take(field.value);
    return true;
  }
  Reader packed(field.bytes);
  std::uint64_t value = 0;
  while (!packed.at_end()) {
    if (!packed.varint(value)) return false;
    take(value);
  }
  return true;
}

inline void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}
// Zero is what is meant where a field is absent, so it is left out.
inline void put_integer(std::string& out, std::uint32_t number, std::uint64_t value) {
  if (value == 0) return;
  put_varint(out, std::uint64_t{number} << 3);
  put_varint(out, value);
}
inline void put_bytes(std::string& out, std::uint32_t number, std::string_view bytes) {
  put_varint(out, std::uint64_t{number} << 3 | static_cast<std::uint64_t>(Wire::bytes));
  put_varint(out, bytes.size());
  out.append(bytes);
}

}  // namespace fathom::protobuf
