// From the kind of an integer in a file to the machine's type for it.
#pragma once

#include <cstdint>

#include "defs/value_type.hpp"

namespace fathom {

// Calls f with a value of the machine type behind an integer kind.
template <class F>
decltype(auto) with_integer_type(ValueKind kind, F&& f) {
  switch (kind) {
    case ValueKind::u8:
      return f(std::uint8_t{});
    case ValueKind::i8:
      return f(std::int8_t{});
    case ValueKind::u16:
      return f(std::uint16_t{});
    case ValueKind::i16:
      return f(std::int16_t{});
    case ValueKind::u32:
      return f(std::uint32_t{});
    case ValueKind::i32:
      return f(std::int32_t{});
    case ValueKind::u64:
      return f(std::uint64_t{});
    default:
      return f(std::int64_t{});
  }
}

}  // namespace fathom
