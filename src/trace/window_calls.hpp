// What happened in a window of a trace: time by function, cut at the borders of the window; calls that begin in it.
#pragma once

#include <string>
#include <vector>

#include "base/table.hpp"
#include "trace/trace.hpp"

namespace fathom {

// Of all regions of one name, or of one value of a channel. A location lasts from its first to its last event, so that
// the own times of a location sum to what the window and it have in common. Samples count until the next one.
struct WindowCalls {
  std::string name;
  RegionId region;               // the first of that name; invalid = compute, or a value
  std::uint64_t calls = 0;       // that begin in the window; samples that found it innermost
  std::int64_t own_ns = 0;       // without what it calls
  std::int64_t total_ns = 0;     // with that; of recursive calls the outermost
  std::uint64_t timed = 0;       // calls behind the two below: of regions alone
  std::int64_t shortest_ns = 0;  // of calls that begin in the window, up to its end
  std::int64_t longest_ns = 0;
  std::int64_t sum_ns = 0;
};

struct WindowOptions {
  TimeWindow window;
  std::vector<LocationId> locations;  // empty = all
  ChannelId channel;                  // values of this channel instead of regions and samples
};

// Most own time first.
Result<std::vector<WindowCalls>> window_calls(const Trace& trace, const WindowOptions& options);
// Columns call, count, wall_s, own_s, mean_s, min_s, max_s.
Table window_table(const std::vector<WindowCalls>& calls);

// One call.
struct WindowCall {
  LocationId location;
  std::int64_t begin_ns = 0;
  std::int64_t length_ns = 0;
};
// How long the calls of one name are: those that begin in the window, up to its end.
struct Durations {
  struct Bin {
    std::uint64_t count = 0;
    std::int64_t sum_ns = 0;
  };
  static constexpr int kPerOctave = 4;
  std::vector<Bin> bins;  // [i]: at least 2^(i / kPerOctave) ns; [0] also 0 ns
  std::uint64_t count = 0;
  std::vector<WindowCall> calls;  // those of the range that was asked for, longest first, as many as were asked for
  static double lower_ns(std::size_t bin);
  static std::size_t bin_of(std::int64_t length_ns);
};
Result<Durations> call_durations(const Trace& trace, const WindowOptions& options, std::string_view name,
                                 std::int64_t shortest_ns, std::int64_t longest_ns, std::size_t most);

}  // namespace fathom
