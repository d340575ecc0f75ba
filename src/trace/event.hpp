// One event of a trace. Small and flat: streams fill arrays of these, nothing is allocated per event.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "defs/context_tree.hpp"
#include "defs/metric.hpp"
#include "defs/region.hpp"
#include "defs/system_tree.hpp"

namespace fathom {

using ChannelId = Id<struct ChannelTag>;
using MarkerId = Id<struct MarkerTag>;
using CommunicatorId = Id<struct CommunicatorTag>;

enum class EventKind : std::uint8_t {
  enter,       // of a region
  leave,       // of a region
  sample,      // the location was found in a context; no context = it did nothing
  send,        // a message leaves: peer, tag, communicator, bytes
  recv,        // a message is there: the same, with what the receive actually matched
  collective,  // this location's part in a collective: communicator, root as peer, bytes sent and received
  complete,    // an operation that was begun earlier (origin) is over: request, I/O
  state,       // a channel takes a value, or none
  counter,     // value of a metric
  marker,      // anything else that happened at a moment
};
std::string_view to_string(EventKind kind);
inline constexpr std::size_t kEventKinds = 10;

// Ranks as events name them; others than these are ranks of the whole run.
inline constexpr std::int32_t kNoPeer = -1;       // nobody: null process, rootless collective
inline constexpr std::int32_t kUnknownPeer = -2;  // the trace does not tell

// What a marker stands for, where the level knows more than its name (Trace::meaning). In its event, for
//   put, get, update    peer, communicator, bytes moved there (update: value = bytes fetched); a complete ends it
//   read, write         bytes asked for, tag = the handle (Trace::handles); a complete with the bytes moved ends it
//   open, close         tag = the handle
//   lock, unlock        value = which lock
//   task_*              value = the task. From a task_switch on the location runs that task, and enters and leaves
//                       belong to its stack; task 0 is the location's own stack, and a task that ends gives way to it
//   fork, join          value = threads asked for
//   gap_begin, gap_end  nothing was recorded in between; a gap_begin with has_value knows its end, in value
enum class MarkerMeaning : std::uint8_t {
  none,
  put,
  get,
  update,
  read,
  write,
  open,
  close,
  lock,
  unlock,
  task_create,
  task_switch,
  task_end,
  fork,
  join,
  gap_begin,
  gap_end,
};

// What `name` counts depends on the kind: a region (enter, leave, send, recv, collective, complete), a context
// (sample), a channel (state), a metric (counter), an entry of Trace::markers() (marker).
struct Event {
  static constexpr std::uint64_t kNoRecord = std::numeric_limits<std::uint64_t>::max();
  static constexpr std::uint32_t kNoName = std::numeric_limits<std::uint32_t>::max();

  std::int64_t time_ns = 0;          // on the trace's clock; meaningless without has_time
  std::uint64_t record = kNoRecord;  // number of the native record in the location's stream
  std::uint64_t origin = kNoRecord;  // record that began what is over now: the posting of a receive, of a request
  // counter (bits of a double where the metric is one), state; collective: bytes received; send, recv: when it was
  // posted, with has_value; enter, leave: CPU time of the location (ns) where Trace::has_cpu_time(), with has_value
  std::int64_t value = 0;
  // sent, received, moved; of an enter or leave, which move nothing, what the trace needs to find its detail() again
  std::int64_t bytes = 0;
  LocationId location;
  std::uint32_t name = kNoName;
  std::int32_t peer = kNoPeer;
  std::int32_t tag = 0;
  CommunicatorId communicator;
  EventKind kind = EventKind::marker;
  bool has_time = true;
  // state: false = the channel is empty from now on; send, recv, enter, leave: false = the time in `value` is not known
  bool has_value = true;
  // Bits, so that an event stays one line of the cache.
  bool carried : 1 = false;  // from before the window, still in effect where it begins (see Trace::open)
  bool resumed : 1 = false;  // enter: goes on after it was left for another region's end only; no call of its own

  [[nodiscard]] RegionId region() const { return RegionId(name); }
  [[nodiscard]] ContextId context() const { return ContextId(name); }
  [[nodiscard]] ChannelId channel() const { return ChannelId(name); }
  [[nodiscard]] MetricId metric() const { return MetricId(name); }
  [[nodiscard]] MarkerId marker() const { return MarkerId(name); }
};

// From inclusive, to exclusive. Events without a time lie in every window.
struct TimeWindow {
  std::int64_t from_ns = std::numeric_limits<std::int64_t>::min();
  std::int64_t to_ns = std::numeric_limits<std::int64_t>::max();

  [[nodiscard]] bool contains(const Event& event) const {
    return !event.has_time || (event.time_ns >= from_ns && event.time_ns < to_ns);
  }
  [[nodiscard]] bool everything() const { return *this == TimeWindow{}; }
  friend bool operator==(TimeWindow, TimeWindow) = default;
};

}  // namespace fathom
