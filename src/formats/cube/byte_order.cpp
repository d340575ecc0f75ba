#include "formats/cube/byte_order.hpp"

#include <algorithm>
#include <cstring>

#include "io/byte_cursor.hpp"

namespace fathom::cube {

namespace {

template <class T>
void swap_run(std::byte* at, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i, at += sizeof(T)) {
    const T value = byte_swapped(load_unchecked<T>(at));
    std::memcpy(at, &value, sizeof(T));
  }
}

void swap_scale_function(std::byte* at, bool from_native) {
  constexpr std::size_t kMaxTerms = 30;
  constexpr std::size_t kMaxMeasurements = 10;
  std::uint32_t terms = load_unchecked<std::uint32_t>(at);
  std::uint32_t measurements = load_unchecked<std::uint32_t>(at + 4);
  if (!from_native) {
    terms = byte_swapped(terms);
    measurements = byte_swapped(measurements);
  }
  swap_run<std::uint32_t>(at, 2);
  at += 8;
  for (std::size_t i = 0; i < std::min<std::size_t>(terms, kMaxTerms); ++i, at += 20) {
    swap_run<std::uint64_t>(at, 1);
    swap_run<std::uint32_t>(at + 8, 3);
  }
  for (std::size_t i = 0; i < std::min<std::size_t>(measurements, kMaxMeasurements); ++i, at += 20) {
    swap_run<std::uint32_t>(at, 1);
    swap_run<std::uint64_t>(at + 4, 2);
  }
}

}  // namespace

void swap_values(ValueType type, std::byte* at, std::size_t count, bool from_native) {
  switch (type.kind) {
    case ValueKind::u8:
    case ValueKind::i8:
      return;
    case ValueKind::u16:
    case ValueKind::i16:
      return swap_run<std::uint16_t>(at, count);
    case ValueKind::u32:
    case ValueKind::i32:
      return swap_run<std::uint32_t>(at, count);
    case ValueKind::atomic:
      for (std::size_t i = 0; i < count; ++i, at += type.size()) {
        swap_run<std::uint32_t>(at, 1);
        swap_run<std::uint64_t>(at + 4, 4);
      }
      return;
    case ValueKind::scale_function:
      for (std::size_t i = 0; i < count; ++i, at += type.size()) swap_scale_function(at, from_native);
      return;
    default:
      return swap_run<std::uint64_t>(at, count * type.size() / sizeof(std::uint64_t));
  }
}

}  // namespace fathom::cube
