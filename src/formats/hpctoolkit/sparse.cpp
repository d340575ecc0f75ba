#include "formats/hpctoolkit/sparse.hpp"

#include <fmt/format.h>

namespace fathom::hpctoolkit {

template <class Shape>
Result<void> check_index(const SparseBlock<Shape>& block, const Blob& blob, std::uint64_t indices_at,
                         const std::string& owner, const char* key, const Work& work) {
  for (std::uint64_t slot = 0; slot < block.index_count(); ++slot) {
    const auto place = blob.place(indices_at + slot * SparseBlock<Shape>::kIndexSize);
    if (slot > 0 && block.key(slot) <= block.key(slot - 1)) {
      FATHOM_CHECK(work->diagnostics.lost("hpctoolkit.index_order", place,
                                          fmt::format("{0}: {1} {2} follows {1} {3}, expected ascending ids", owner,
                                                      key, block.key(slot), block.key(slot - 1))));
    }
    const std::uint64_t stop = slot + 1 < block.index_count() ? block.start(slot + 1) : block.value_count();
    if (block.start(slot) > stop || stop > block.value_count()) {
      FATHOM_CHECK(
          work->diagnostics.lost("hpctoolkit.index_range", place,
                                 fmt::format("{}: the values of {} {} are said to be {} to {} of {}", owner, key,
                                             block.key(slot), block.start(slot), stop, block.value_count())));
    }
  }
  return {};
}

template Result<void> check_index(const ProfileBlock&, const Blob&, std::uint64_t, const std::string&, const char*,
                                  const Work&);
template Result<void> check_index(const ContextBlock&, const Blob&, std::uint64_t, const std::string&, const char*,
                                  const Work&);

}  // namespace fathom::hpctoolkit
