#include "base/visible.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace fathom {

namespace {

// By byte: 0 passes as it is, 1 is a control character, 2 begins or continues a longer one.
constexpr std::array<std::uint8_t, 256> kKinds = [] {
  std::array<std::uint8_t, 256> kinds{};
  for (std::size_t i = 0; i < 0x20; ++i) kinds[i] = 1;
  kinds[0x7f] = 1;
  for (std::size_t i = 0x80; i < 256; ++i) kinds[i] = 2;
  return kinds;
}();

std::uint8_t kind(char c) { return kKinds[static_cast<unsigned char>(c)]; }

// A character of several bytes: its length and number; length 0 where it is none.
struct Character {
  std::size_t length = 0;
  std::uint32_t number = 0;
};

Character character_at(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  const std::uint32_t lead = byte(0);
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 0;
  if (length == 0 || lead > 0xF4 || text.size() < length) return {};
  std::uint32_t number = lead & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {};
    number = number << 6U | (byte(i) & 0x3FU);
  }
  constexpr std::array<std::uint32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = number >= 0xD800 && number <= 0xDFFF;
  if (number < kSmallest[length] || number > 0x10FFFF || surrogate) return {};
  return {length, number};
}

bool turns_writing(std::uint32_t number) {
  return number == 0x061C || number == 0x200E || number == 0x200F || (number >= 0x202A && number <= 0x202E) ||
         (number >= 0x2066 && number <= 0x2069) || number == 0x2028 || number == 0x2029;
}

// "\x1b[31m" and the like, as Terminal::paint has them: the length, or 0. Others (8 hides what follows) do not pass.
std::size_t colour_at(std::string_view text) {
  for (const std::string_view one :
       {"\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[34m", "\x1b[36m"}) {
    if (text.starts_with(one)) return one.size();
  }
  return 0;
}

std::string neutral(std::string_view text, bool lines, bool colours) {
  std::string out;
  out.reserve(text.size() + 16);
  while (!text.empty()) {
    const auto plain = static_cast<std::size_t>(
        std::find_if(text.begin(), text.end(), [](char c) { return kind(c) != 0; }) - text.begin());
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    std::size_t take = 1;
    if (kind(text[0]) == 2) {
      const Character character = character_at(text);
      if (character.length == 0) {
        out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
      } else {
        take = character.length;
        if (character.number < 0xA0) {
          out += fmt::format("\\x{:02x}", character.number);
        } else if (turns_writing(character.number)) {
          out += fmt::format("\\u{:04x}", character.number);
        } else {
          out += text.substr(0, take);
        }
      }
    } else if (lines && (text[0] == '\n' || text[0] == '\t')) {
      out += text[0];
    } else if (const std::size_t colour = colours ? colour_at(text) : 0; colour > 0) {
      take = colour;
      out += text.substr(0, take);
    } else {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    }
    text.remove_prefix(take);
  }
  return out;
}

}  // namespace

bool is_plain_text(std::string_view text) {
  // One test over all bytes: names are plain nearly always.
  std::uint8_t found = 0;
  for (const char c : text) found |= kind(c);
  return found == 0;
}

std::string visible(std::string_view text) {
  if (is_plain_text(text)) return std::string(text);
  return neutral(text, false, false);
}

std::string visible_lines(std::string_view text, bool colours) { return neutral(text, true, colours); }

}  // namespace fathom
