#pragma once

#include <string_view>

#include "base/text.hpp"

namespace fathom {

// Whether a spreadsheet evaluates a cell instead of showing it; numbers are shown.
inline bool looks_like_formula(std::string_view text) {
  if (text.empty() || std::string_view("=+-@\t\r").find(text[0]) == std::string_view::npos) return false;
  return !parse_double(text);
}

}  // namespace fathom
