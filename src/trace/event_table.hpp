// The events of a trace, merged over its locations by time, as a table.
#pragma once

#include <bitset>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/table.hpp"
#include "trace/trace.hpp"

namespace fathom {

struct EventChoice {
  std::vector<LocationId> locations = {};  // empty = all
  TimeWindow window = {};
  std::bitset<kEventKinds> kinds = std::bitset<kEventKinds>().set();
  std::vector<std::string> names = {};    // patterns; empty = all
  std::optional<std::size_t> depth = {};  // samples: the name is that of the function at this depth of the call stack
  std::uint64_t limit = 0;                // at most so many; 0 = all
  bool details = true;                    // false: the detail column is empty, which is faster
  // For people: batches have times as seconds since this moment instead of nanoseconds on the clock.
  std::optional<std::int64_t> seconds_since = {};
};

// Columns time_ns, location, kind, name, detail; which of them are made is up to the scan (details cost the most).
// One part: the merge is in order, the columns of its batches can be made on several threads. The trace must outlive
// it.
std::unique_ptr<TableSource> event_table(const Trace& trace, EventChoice choice);

}  // namespace fathom
