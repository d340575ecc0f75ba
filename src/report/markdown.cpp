#include "report/markdown.hpp"

#include "base/visible.hpp"

namespace fathom {

std::string markdown_text(std::string_view text) {
  constexpr std::string_view kSpecial = "\\|`*_<[";
  std::string out;
  for (const char c : visible(text)) {
    if (kSpecial.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

}  // namespace fathom
