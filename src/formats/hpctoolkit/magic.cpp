#include "formats/hpctoolkit/magic.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fathom::hpctoolkit {

Result<std::string> read_meta_header(ByteCursor& in, std::string_view magic) {
  in.expect(magic, "magic");
  const unsigned major = in.u8("major version");
  const unsigned minor = in.u8("minor version");
  FATHOM_CHECK(in.status());
  if (major != kMetaMajor) {
    return Error(fmt::format("version {}.{}, expected {}.x", major, minor, kMetaMajor), in.blob().place(magic.size()));
  }
  return fmt::format("{}.{}", major, minor);
}

Result<void> check_footer(const Blob& blob, std::string_view footer, const Work& work) {
  const std::string reversed(footer.rbegin(), footer.rend());
  const std::string_view text = blob.text();
  if (text.ends_with(footer) || text.ends_with(reversed)) return {};
  return work->diagnostics.warn(
      "hpctoolkit.footer", blob.place(blob.size() >= footer.size() ? blob.size() - footer.size() : 0),
      fmt::format("does not end with '{}': the file was cut or not written to the end", footer));
}

}  // namespace fathom::hpctoolkit
