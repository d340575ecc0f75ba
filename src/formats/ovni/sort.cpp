#include "formats/ovni/sort.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace fathom::ovni {

namespace {

struct Item {
  std::uint64_t clock;
  std::uint64_t offset;  // of the event's bytes in the stream
  std::uint64_t size;
};

constexpr std::size_t kKeptAtLeast = 1024;
constexpr Mcv kRegionBegin = pack_mcv("OU[");
constexpr Mcv kRegionEnd = pack_mcv("OU]");

// The end of a region: puts items[begin of the affected part …) in order.
Result<bool> sort_region(const Stream& stream, std::vector<Item>& items, std::uint64_t region_clock, std::uint64_t seen,
                         std::size_t window) {
  // The closing one is not among them.
  const std::size_t reach = window >= 1 ? window - 1 : 0;
  const bool window_full = seen >= reach;
  const std::size_t lowest = items.size() > reach ? items.size() - reach : 0;
  std::size_t begin = items.size();
  bool found = false;
  while (begin > lowest) {
    --begin;
    if (items[begin].clock < region_clock) {
      found = true;
      break;
    }
  }
  if (!found) {
    if (window_full) {
      return Error::refused(fmt::format("cannot find an event before clock {} within {} events", region_clock, reach),
                            stream.blob.place(items.back().offset))
          .hint("use a larger window: sort -n N");
    }
    begin = lowest;
  }
  const auto from = items.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto earlier = [](const Item& a, const Item& b) { return a.clock < b.clock; };
  if (std::is_sorted(from, items.end(), earlier)) return false;
  std::stable_sort(from, items.end(), earlier);
  return true;
}

// What sorting says of a stream that is in order already, as nearly all are: found in one pass that keeps nothing.
// Nothing where something may have to move, or be refused.
std::optional<SortResult> if_in_order(const Stream& stream, std::size_t window) {
  SortResult result;
  const std::uint64_t reach = window >= 1 ? window - 1 : 0;
  StreamCursor cursor(stream);
  Event event;
  std::uint64_t last = 0;
  std::uint64_t seen = 0;
  std::uint64_t earlier = 0;  // events with a smaller clock than the last one
  std::uint64_t before = 0;   // events with a smaller clock than the region's first
  bool inside = false;
  bool empty = true;
  for (; cursor.next(event); ++seen) {
    const std::uint64_t clock = event.clock();
    if (clock < last) return std::nullopt;
    if (clock > last) earlier = seen;
    last = clock;
    const Mcv mcv = event.mcv();
    if (!inside) {
      inside = empty = mcv == kRegionBegin;
    } else if (mcv == kRegionEnd) {
      inside = false;
      ++(empty ? result.empty_regions : result.regions);
      const bool found = before > 0 && before + reach > seen;
      if (!empty && !found && seen >= reach) return std::nullopt;
    } else if (empty) {
      empty = false;
      before = earlier;
    }
  }
  if (cursor.left() > 0) return std::nullopt;
  return result;
}

}  // namespace

namespace {

// The bytes of items in their final order, joined where they were neighbours already.
class Output {
 public:
  Output(const Stream& stream, const SortedBytes& sink)
      : bytes_(stream.blob.bytes()), sink_(sink), end_(stream.begin) {}

  Result<void> add(std::uint64_t offset, std::uint64_t size) {
    if (offset != end_) {
      FATHOM_CHECK(flush());
      begin_ = offset;
    }
    end_ = offset + size;
    return {};
  }
  Result<bool> finish() {
    // One piece from the beginning: nothing has moved.
    if (changed_) FATHOM_CHECK(flush());
    return changed_;
  }

 private:
  Result<void> flush() {
    changed_ = true;
    return sink_(bytes_.subspan(begin_, end_ - begin_));
  }

  Bytes bytes_;
  const SortedBytes& sink_;
  std::uint64_t begin_ = 0;
  std::uint64_t end_;
  bool changed_ = false;
};

}  // namespace

Result<SortResult> sort_stream(const Stream& stream, std::size_t window, const SortedBytes& sink, const Work& work) {
  if (auto done = if_in_order(stream, window)) return *std::move(done);
  SortResult result;
  std::vector<Item> items;
  const std::uint64_t most = std::min<std::uint64_t>(stream.blob.size() / kEventHeader,
                                                     2 * (std::uint64_t{std::max(window, kKeptAtLeast)} + 1));
  FATHOM_TRY(const auto reserved, work->budget.reserve(most * sizeof(Item), "events that may still move"));
  items.reserve(most);
  StreamCursor cursor(stream);
  Event event;
  bool inside = false;
  bool empty = true;
  std::uint64_t lowest = 0;
  std::uint64_t seen = 0;
  Output output(stream, sink);
  bool sorted_any = false;  // since the last release
  const auto release = [&](std::size_t count) -> Result<void> {
    if (sorted_any) {
      for (std::size_t i = 0; i < count; ++i) FATHOM_CHECK(output.add(items[i].offset, items[i].size));
    } else if (count > 0) {
      FATHOM_CHECK(output.add(items[0].offset, items[count - 1].offset + items[count - 1].size - items[0].offset));
    }
    items.erase(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(count));
    // What stays may have been sorted, too.
    sorted_any = sorted_any && !items.empty();
    return {};
  };
  while (cursor.next(event)) {
    const Mcv mcv = event.mcv();
    const std::uint64_t clock = event.clock();
    if (!inside) {
      if (mcv == kRegionBegin) {
        inside = true;
        empty = true;
        lowest = std::numeric_limits<std::uint64_t>::max();
      }
    } else if (mcv == kRegionEnd) {
      inside = false;
      if (empty) {
        ++result.empty_regions;
      } else {
        ++result.regions;
        auto status = sort_region(stream, items, lowest, seen, window);
        if (!status.ok()) return std::move(status).error().with(fmt::format("sorting stream {}", stream.path));
        sorted_any = sorted_any || *status;
      }
    } else {
      empty = false;
      lowest = std::min(lowest, clock);
    }
    items.push_back({clock, offset_in(stream, event.at), event.size()});
    ++seen;
    // Events that no region can reach any more need not be kept.
    if (items.size() / 2 >= std::max(window, kKeptAtLeast)) {
      FATHOM_CHECK(release(items.size() - window));
    }
  }
  if (cursor.left() > 0) {
    return Error::refused("stream ends with an incomplete event", place_in(stream, cursor.position()));
  }
  FATHOM_CHECK(release(items.size()));
  FATHOM_TRY(result.changed, output.finish());
  return result;
}

std::optional<Error> find_disorder(const Stream& stream) {
  StreamCursor cursor(stream);
  Event event;
  std::uint64_t last = 0;
  std::uint64_t count = 0;
  while (cursor.next(event)) {
    const std::uint64_t clock = event.clock();
    if (count++ > 0 && clock < last) {
      return Error::refused(fmt::format("stream {} is not sorted: clock {} after {}", stream.path, clock, last),
                            place_in(stream, event.at));
    }
    last = clock;
  }
  if (cursor.left() > 0) {
    return Error::refused(fmt::format("stream {} ends with an incomplete event", stream.path),
                          place_in(stream, cursor.position()));
  }
  if (count == 0) return Error::refused(fmt::format("stream {} has no events", stream.path), stream.blob.place());
  return std::nullopt;
}

}  // namespace fathom::ovni
