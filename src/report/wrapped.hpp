// Sentences over several lines.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fathom {

// Breaks a paragraph at blanks; width 0 = in one line. Ends with a line break.
std::string wrapped(std::string_view text, std::size_t width, std::string_view indent);
// The same with another indentation of the first line.
std::string wrapped(std::string_view text, std::size_t width, std::string_view indent, std::string_view first_indent);

}  // namespace fathom
