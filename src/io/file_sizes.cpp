#include "io/file_sizes.hpp"

#include "base/share_out.hpp"

namespace fathom {

Result<std::vector<std::uint64_t>> sizes_of_files(const std::vector<std::filesystem::path>& paths) {
  FATHOM_TRY(Share share, Share::of("sizes of files", paths.size(), {}));
  std::vector<std::uint64_t> sizes(paths.size(), 1);
  if (share.alone()) return sizes;
  FATHOM_CHECK(share.each([&](std::size_t i) -> Result<void> {
    std::error_code status;
    const std::uintmax_t size = std::filesystem::file_size(paths[i], status);
    sizes[i] = status ? 0 : size;
    return {};
  }));
  FATHOM_CHECK(bring_together(share, sizes, Holder::all));
  return sizes;
}

}  // namespace fathom
