// A database holds doubles, whatever a profile stores.
#pragma once

#include "defs/value_type.hpp"
#include "io/byte_cursor.hpp"

namespace fathom::hpctoolkit {

// One packed value as a double. Integers too large for one are counted.
inline double as_double(ValueType type, const std::byte* at, std::uint64_t& rounded) {
  const auto large = [&](std::uint64_t magnitude) { rounded += magnitude > (std::uint64_t{1} << 53) ? 1 : 0; };
  switch (type.kind) {
    case ValueKind::u8:
      return load_unchecked<std::uint8_t>(at);
    case ValueKind::i8:
      return load_unchecked<std::int8_t>(at);
    case ValueKind::u16:
      return load_unchecked<std::uint16_t>(at);
    case ValueKind::i16:
      return load_unchecked<std::int16_t>(at);
    case ValueKind::u32:
      return load_unchecked<std::uint32_t>(at);
    case ValueKind::i32:
      return load_unchecked<std::int32_t>(at);
    case ValueKind::u64: {
      const auto value = load_unchecked<std::uint64_t>(at);
      large(value);
      return static_cast<double>(value);
    }
    case ValueKind::i64: {
      const auto value = load_unchecked<std::int64_t>(at);
      large(value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value));
      return static_cast<double>(value);
    }
    default:
      return load_unchecked<double>(at);
  }
}

}  // namespace fathom::hpctoolkit
