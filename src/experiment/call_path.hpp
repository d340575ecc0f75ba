// Call paths are texts: names of levels joined with "->".
#pragma once

#include <string>
#include <string_view>

namespace fathom {

// A name as one level of a call path: "a->b" becomes "a- >b".
std::string path_level(std::string_view name);
// "f" of "main->f".
std::string_view last_level(std::string_view path);

}  // namespace fathom
