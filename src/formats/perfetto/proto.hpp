// What Perfetto's messages need beyond io/protobuf.hpp.
#pragma once

#include <bit>
#include <cstring>

#include "io/protobuf.hpp"

namespace fathom::perfetto {

using protobuf::Field;
using protobuf::put_bytes;
using protobuf::put_varint;
using protobuf::Wire;
using FieldCursor = protobuf::Reader;

inline double real_of(const Field& field) { return std::bit_cast<double>(field.value); }

template <class Take>
void each_number(const Field& field, const Take& take) {
  (void)protobuf::integers(field, take);
}
template <class Take>
void each_fixed64(const Field& field, const Take& take) {
  if (field.wire != Wire::bytes) {
    take(field.value);
    return;
  }
  for (std::size_t at = 0; at + 8 <= field.bytes.size(); at += 8) {
    std::uint64_t value = 0;
    std::memcpy(&value, field.bytes.data() + at, 8);
    take(value);
  }
}

// Zero is a value here, not an absent one.
inline void put_number(std::string& out, std::uint32_t field, std::uint64_t value) {
  put_varint(out, std::uint64_t{field} << 3);
  put_varint(out, value);
}
inline void put_fixed64(std::string& out, std::uint32_t field, std::uint64_t value) {
  put_varint(out, std::uint64_t{field} << 3 | static_cast<std::uint64_t>(Wire::fixed64));
  char bytes[8];
  std::memcpy(bytes, &value, 8);
  out.append(bytes, 8);
}
inline void put_double(std::string& out, std::uint32_t field, double value) {
  put_fixed64(out, field, std::bit_cast<std::uint64_t>(value));
}

}  // namespace fathom::perfetto
