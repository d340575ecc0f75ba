// Statistics of any trace from its events: time per region and state, messages, counters. Each location gives a partial
// result of its own; partial results merge, in the order of the locations, so that the outcome does not depend on how
// many threads or processes did the work.
#pragma once

#include <array>
#include <map>
#include <vector>

#include "trace/statistics.hpp"
#include "trace/trace.hpp"

namespace fathom {

struct RegionTotals {
  std::uint64_t count = 0;  // enters, or samples
  CappedSum wall_ns;        // in the region itself, without what it calls
  CappedSum sent;           // bytes, of messages and collectives
  CappedSum received;
  bool moves_bytes = false;
};

struct StateTotals {
  std::uint64_t count = 0;  // how often the channel took the value
  CappedSum wall_ns;
};

struct CounterTotals {
  std::uint64_t count = 0;
  double minimum = 0;
  double maximum = 0;
  double sum = 0;
};

struct MessageTotals {
  std::uint64_t count = 0;
  CappedSum bytes;
};

// What is known of some locations.
struct TraceTotals {
  // Regions by their number, only those that occur; the idle time of samples is under kIdle.
  static constexpr std::uint32_t kIdle = UINT32_MAX;
  std::map<std::uint32_t, RegionTotals> regions;
  std::map<std::pair<std::uint32_t, std::int64_t>, StateTotals> states;  // by channel and value
  std::map<std::uint32_t, CounterTotals> counters;
  std::map<std::pair<std::int64_t, std::int64_t>, MessageTotals> messages;  // by rank of sender and receiver
  std::array<std::uint64_t, kEventKinds> kinds{};
  std::optional<std::int64_t> first_ns;
  std::optional<std::int64_t> last_ns;

  void merge(const TraceTotals& other);
};

// One location. What is in effect where the window begins counts from there on, and to its end.
Result<TraceTotals> aggregate(const Trace& trace, LocationId location, TimeWindow window);

// For `stats`: calls are the regions; tables `location`, `state`, `counter`, `kind` on request, the states also when
// nothing else is asked for.
Result<TraceStatistics> trace_statistics(const Trace& trace, const StatisticsOptions& options);

}  // namespace fathom
