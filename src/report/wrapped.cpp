#include "report/wrapped.hpp"

#include "base/text.hpp"

namespace fathom {

std::string wrapped(std::string_view text, std::size_t width, std::string_view indent) {
  return wrapped(text, width, indent, indent);
}

std::string wrapped(std::string_view text, std::size_t width, std::string_view indent, std::string_view first_indent) {
  std::string out;
  std::size_t column = 0;
  for (const std::string_view word : split(text, ' ')) {
    if (width > 0 && column > 0 && column + 1 + display_width(word) > width) {
      out += '\n';
      column = 0;
    }
    if (column == 0) {
      const std::string_view lead = out.empty() ? first_indent : indent;
      out += lead;
      column = lead.size();
    } else {
      out += ' ';
      ++column;
    }
    out += word;
    column += display_width(word);
  }
  return out + '\n';
}

}  // namespace fathom
