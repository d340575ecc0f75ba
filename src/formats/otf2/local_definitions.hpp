// What the definitions of one location say: how its clock runs against the global one and which ids its events use.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "formats/otf2/definitions.hpp"

namespace fathom::otf2 {

struct ClockOffset {
  std::uint64_t time;
  std::int64_t offset;
};

// Local ids to global ones; what is not listed stays as it is.
struct IdMap {
  std::vector<std::uint64_t> dense;                             // by local id
  std::vector<std::pair<std::uint64_t, std::uint64_t>> sparse;  // sorted by local id

  [[nodiscard]] std::uint64_t global(std::uint64_t local) const;
};

struct LocalDefinitions {
  std::vector<ClockOffset> offsets;                         // ascending
  std::array<std::unique_ptr<const IdMap>, kIdKinds> maps;  // null = all stay

  [[nodiscard]] std::uint64_t global(IdKind kind, std::uint64_t local) const {
    const auto& map = maps[static_cast<std::size_t>(kind)];
    return map == nullptr || local == kUndefined32 || local == kUndefined64 ? local : map->global(local);
  }
};

Result<LocalDefinitions> read_local_definitions(Blob blob, std::uint64_t chunk_size, const Work& work);

// Ticks of a location's stream, corrected. Times only grow in a stream, and so does the interval that holds.
class ClockCorrection {
 public:
  explicit ClockCorrection(const std::vector<ClockOffset>& offsets) : offsets_(offsets) { select(0); }

  [[nodiscard]] bool identity() const { return offsets_.empty(); }
  std::uint64_t operator()(std::uint64_t time) {
    while (interval_ + 2 < offsets_.size() && time > offsets_[interval_ + 1].time) select(interval_ + 1);
    const auto passed = static_cast<double>(static_cast<std::int64_t>(time - begin_));
    // Offsets that make no sense may be worth more ticks than there are.
    constexpr double kMost = 9.2e18;
    const double drift = std::clamp(__builtin_rint(slope_ * passed), -kMost, kMost);
    return time + static_cast<std::uint64_t>(offset_) + static_cast<std::uint64_t>(static_cast<std::int64_t>(drift));
  }

 private:
  void select(std::size_t interval);
  const std::vector<ClockOffset>& offsets_;
  std::size_t interval_ = 0;
  std::uint64_t begin_ = 0;
  std::int64_t offset_ = 0;
  double slope_ = 0;
};

}  // namespace fathom::otf2
