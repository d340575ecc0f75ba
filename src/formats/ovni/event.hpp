// One event of a stream, as the bytes say:
//   flags u8 (low nibble: payload size code, 0x10: jumbo), model, category, value, clock u64, payload.
// A payload has code + 1 bytes (code 0: none); that of a jumbo event is a u32 and that many bytes of data.
#pragma once

#include "formats/ovni/catalogue.hpp"
#include "io/byte_cursor.hpp"

namespace fathom::ovni {

inline constexpr std::size_t kEventHeader = 12;
inline constexpr unsigned kJumboFlag = 0x10;

// A view into the stream's bytes; cheap to copy.
struct Event {
  const std::byte* at = nullptr;
  std::uint32_t payload_size = 0;  // with the size word of a jumbo event
  Endian order = Endian::little;

  [[nodiscard]] bool jumbo() const { return (static_cast<unsigned>(at[0]) & kJumboFlag) != 0; }
  [[nodiscard]] Mcv mcv() const { return load_unchecked<std::uint32_t>(at, Endian::little) >> 8; }
  [[nodiscard]] std::uint64_t clock() const { return load_unchecked<std::uint64_t>(at + 4, order); }
  [[nodiscard]] Bytes payload() const { return {at + kEventHeader, payload_size}; }
  // What arguments are counted from: the payload, without the size word of a jumbo event.
  [[nodiscard]] Bytes data() const { return payload().subspan(jumbo() ? 4 : 0); }
  [[nodiscard]] std::uint64_t size() const { return kEventHeader + std::uint64_t{payload_size}; }

  // Arguments by their offset; 0 where the data are too short.
  template <class T>
  [[nodiscard]] T argument(std::size_t offset) const {
    const Bytes bytes = data();
    return bytes.size() >= offset + sizeof(T) ? load_unchecked<T>(bytes.data() + offset, order) : T{};
  }
  // A text up to its NUL, or to the end of the data.
  [[nodiscard]] std::string_view text(std::size_t offset) const {
    const Bytes bytes = data();
    if (bytes.size() <= offset) return {};
    const std::string_view rest = as_text(bytes.subspan(offset));
    return rest.substr(0, rest.find('\0'));
  }
};

// Whole size of the event at the beginning of `left` bytes, or 0 when it does not fit.
inline std::uint64_t event_size(const std::byte* at, std::uint64_t left, Endian order) {
  if (left < kEventHeader) return 0;
  const auto flags = static_cast<unsigned>(at[0]);
  std::uint64_t size = kEventHeader;
  if ((flags & kJumboFlag) != 0) {
    if (left < kEventHeader + 4) return 0;
    size += 4 + std::uint64_t{load_unchecked<std::uint32_t>(at + kEventHeader, order)};
    // A payload that does not fit 32 bits cannot be told apart from damage.
    if (size - kEventHeader > 0xffffffffU) return 0;
  } else if (const unsigned code = flags & 0xf; code != 0) {
    size += code + 1;
  }
  return size <= left ? size : 0;
}

}  // namespace fathom::ovni
