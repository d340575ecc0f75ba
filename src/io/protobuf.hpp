// Protocol buffers without a schema compiler: fields one after another from bytes, and messages built in a text.
#pragma once

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

// The fields of one message. Ends at the first malformed one: failed() says what is wrong, at() where.
class Reader {
 public:
  explicit Reader(std::string_view message) : message_(message) {}

  bool next(Field& field) {
    if (at_ >= message_.size() || failed_ != nullptr) return false;
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
        if (size > message_.size() - at_) return fail("a field is longer than what is left");
        field.bytes = message_.substr(at_, size);
        at_ += size;
        return true;
      }
      default:
        return fail("a field has an unknown wire type");
    }
  }

  [[nodiscard]] const char* failed() const { return failed_; }
  // Where the field begins that next() met last.
  [[nodiscard]] std::size_t at() const { return start_; }

  // Up to ten bytes; false when it does not end or there is no more.
  bool varint(std::uint64_t& value) {
    // Most numbers are small.
    if (at_ < message_.size() && static_cast<std::uint8_t>(message_[at_]) < 0x80) {
      value = static_cast<std::uint8_t>(message_[at_++]);
      return true;
    }
    value = 0;
    for (unsigned shift = 0; shift < 70 && at_ < message_.size(); shift += 7) {
      const auto byte = static_cast<std::uint8_t>(message_[at_++]);
      if (shift < 64) value |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }
  [[nodiscard]] bool at_end() const { return at_ >= message_.size(); }

 private:
  template <class T>
  bool fixed(Field& field) {
    if (message_.size() - at_ < sizeof(T)) return false;
    field.value = load_unchecked<T>(reinterpret_cast<const std::byte*>(message_.data() + at_), Endian::little);
    at_ += sizeof(T);
    return true;
  }
  bool fail(const char* what) {
    failed_ = what;
    return false;
  }

  std::string_view message_;
  std::size_t at_ = 0;
  std::size_t start_ = 0;
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
