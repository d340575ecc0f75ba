#include "formats/nsight/thread_samples.hpp"

#include <optional>

namespace fathom::nsight {

Result<void> ThreadSamples::read_chains(const Database& database, const RegionOf& region) {
  std::optional<std::int64_t> sample;
  std::vector<std::uint32_t> frames;  // leaf first: depth 0 is where the thread was
  const auto finish = [&] {
    if (!sample) return;
    auto context = ContextTreeBuilder::kRoot;
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
      const auto [child, fresh] = children_.try_emplace(std::uint64_t{context} << 32 | *frame, 0);
      if (fresh) child->second = builder_.add(context, RegionId(*frame), builder_.size(), -1);
      context = child->second;
    }
    chains_[*sample] = context;
    frames.clear();
  };
  FATHOM_CHECK(database.rows(
      "SAMPLING_CALLCHAINS", {"id", "stackDepth", "symbol", "module"},
      [&](const Row& row) -> Result<void> {
        if (!sample || *sample != row.integer(0)) finish();
        sample = row.integer(0);
        frames.push_back(region(row, 2, 3));
        return {};
      },
      "1, 2"));
  finish();
  return {};
}

Result<void> ThreadSamples::read(const Database& database, const std::function<void(const Sample&)>& take) const {
  return database.rows("COMPOSITE_EVENTS", {"id", "start", "globalTid"}, [&](const Row& row) -> Result<void> {
    if (row.null(1) || row.null(2)) return {};
    const auto chain = chains_.find(row.integer(0));
    take({row.integer(1), row.integer(2), chain == chains_.end() ? kNone : chain->second});
    return {};
  });
}

}  // namespace fathom::nsight
