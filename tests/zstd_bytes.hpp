// Bytes as zstd packs them; the program itself only unpacks.
#pragma once

#include <zstd.h>

#include <string>
#include <string_view>

namespace fathom::test {

inline std::string zstd(std::string_view bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 3));
  return out;
}

}  // namespace fathom::test
