// The page: files that the build packed into the program.
#pragma once

#include <span>
#include <string_view>

namespace fathom::serve {

struct Asset {
  std::string_view path;     // "index.html", "assets/index-1a2b.js"
  std::string_view type;     // MIME
  std::string_view content;  // gzip
  std::string_view sha256;   // of what is packed, in hexadecimal digits
};

// Empty when the program was built without the page (FATHOM_WEB=OFF).
std::span<const Asset> assets();

}  // namespace fathom::serve
