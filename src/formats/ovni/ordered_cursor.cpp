#include "formats/ovni/ordered_cursor.hpp"

#include <algorithm>

namespace fathom::ovni {

std::uint64_t find_lateness(const Stream& stream, std::size_t window) {
  StreamCursor cursor(stream);
  Event event;
  // The highest clock up to each of the last events, as a ring: it only grows, so that it can be searched.
  std::vector<std::int64_t> highest;
  std::uint64_t count = 0;
  std::uint64_t lateness = 0;
  bool too_far = false;
  const auto at = [&](std::uint64_t i) -> std::int64_t& { return highest[i % window]; };
  for (; cursor.next(event); ++count) {
    const auto clock = static_cast<std::int64_t>(event.clock());
    const std::int64_t before = count == 0 ? clock : at(count - 1);
    if (clock < before) {
      std::uint64_t low = count > window ? count - window : 0;
      if (low > 0 && at(low) > clock) too_far = true;
      for (std::uint64_t high = count - 1; low < high;) {
        const std::uint64_t middle = (low + high) / 2;
        if (at(middle) > clock) {
          high = middle;
        } else {
          low = middle + 1;
        }
      }
      lateness = std::max(lateness, count - low);
    }
    if (highest.size() < window) highest.push_back(0);
    at(count) = std::max(clock, before);
  }
  return too_far ? count : lateness;
}

}  // namespace fathom::ovni
