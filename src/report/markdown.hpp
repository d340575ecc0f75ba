// Text from anywhere inside of Markdown.
#pragma once

#include <string>
#include <string_view>

namespace fathom {

// Shows the text as it is, also in a cell of a table: names of C++ functions have '<', '|' and '_', which would be
// tags, ends of cells and emphasis. Controls are shown as everywhere.
std::string markdown_text(std::string_view text);

}  // namespace fathom
