// What the reader of a text can see: colours, bars, how wide.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace fathom {

enum class Style : std::uint8_t { plain, bold, dim, red, yellow, green, cyan, blue };

struct Terminal {
  static constexpr std::size_t kUnlimited = 0;

  bool colour = false;
  bool bars = false;               // a person looks at it: draw bars, cut long names
  std::size_t width = kUnlimited;  // columns

  // A terminal behind the descriptor, or plain text in a pipe. NO_COLOR and TERM=dumb turn colours off.
  static Terminal of(int descriptor);

  // The text in a style, or as it is.
  [[nodiscard]] std::string paint(std::string_view text, Style style) const;
};

// "▐████▌   ": a bar over `width` columns, in eighths of a column, padded with blanks.
std::string bar_text(double fraction, std::size_t width);
// Cold to hot, for shares of a whole.
Style heat(double fraction);

}  // namespace fathom
