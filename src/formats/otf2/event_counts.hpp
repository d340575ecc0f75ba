// How many records of each kind a location has: a full pass over its file.
#pragma once

#include "formats/otf2/archive.hpp"

namespace fathom::otf2 {

struct EventCounts {
  std::array<std::uint64_t, 256> by_type{};
  std::uint64_t events = 0;
  std::uint64_t first = 0;  // ticks as recorded
  std::uint64_t last = 0;

  void add(const EventCounts& other);
};

// By location.
Result<std::vector<EventCounts>> count_events(const Archive& archive);

}  // namespace fathom::otf2
