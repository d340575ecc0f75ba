#include "io/text_encoding.hpp"

namespace fathom {

namespace {

struct Kept {
  std::string text;
  Budget::Reservation memory;
};

void put_utf8(std::string& out, std::uint32_t c) {
  if (c < 0x80) {
    out.push_back(static_cast<char>(c));
  } else if (c < 0x800) {
    out.push_back(static_cast<char>(0xC0 | c >> 6));
    out.push_back(static_cast<char>(0x80 | (c & 0x3F)));
  } else if (c < 0x10000) {
    out.push_back(static_cast<char>(0xE0 | c >> 12));
    out.push_back(static_cast<char>(0x80 | (c >> 6 & 0x3F)));
    out.push_back(static_cast<char>(0x80 | (c & 0x3F)));
  } else {
    out.push_back(static_cast<char>(0xF0 | c >> 18));
    out.push_back(static_cast<char>(0x80 | (c >> 12 & 0x3F)));
    out.push_back(static_cast<char>(0x80 | (c >> 6 & 0x3F)));
    out.push_back(static_cast<char>(0x80 | (c & 0x3F)));
  }
}

}  // namespace

bool is_utf16(Bytes bytes) {
  if (bytes.size() < 2) return false;
  const auto first = static_cast<std::uint8_t>(bytes[0]);
  const auto second = static_cast<std::uint8_t>(bytes[1]);
  return (first == 0xFF && second == 0xFE) || (first == 0xFE && second == 0xFF);
}

Result<Blob> as_utf8(const Blob& blob, const Work& work) {
  const Bytes bytes = blob.bytes();
  if (!is_utf16(bytes)) return blob;
  const std::size_t high = bytes[0] == std::byte{0xFE} ? 0 : 1;
  auto kept = std::make_shared<Kept>();
  FATHOM_TRY(kept->memory, work->budget.reserve(bytes.size() / 2 * 3, "a text in UTF-16"));
  constexpr std::uint32_t kReplacement = 0xFFFD;
  const auto unit = [&](std::size_t at) {
    return static_cast<std::uint32_t>(bytes[at + high]) << 8 | static_cast<std::uint32_t>(bytes[at + 1 - high]);
  };
  for (std::size_t at = 2; at + 1 < bytes.size(); at += 2) {
    std::uint32_t c = unit(at);
    if (c >= 0xD800 && c < 0xE000) {
      const std::uint32_t low = c < 0xDC00 && at + 3 < bytes.size() ? unit(at + 2) : 0;
      if (low >= 0xDC00 && low < 0xE000) {
        c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
        at += 2;
      } else {
        c = kReplacement;
      }
    }
    put_utf8(kept->text, c);
  }
  const std::string_view text = kept->text;
  return Blob(blob.name(), as_bytes(text), std::move(kept));
}

}  // namespace fathom
