// What is kept of a Paraver trace, and the stream over a thread of it.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "formats/paraver/prv_file.hpp"
#include "io/large_array.hpp"
#include "trace/window_index.hpp"

namespace fathom::paraver {

// Of a thread there are changes of its state, events and ends of messages, each in the order of time. Where times are
// equal they follow one another like that.
struct MessageEnd {
  enum What : std::uint64_t { sent, received, idle_ends };
  std::int64_t time;
  std::uint64_t message : 62;
  std::uint64_t what : 2;
};
struct CollectiveValues {
  std::int64_t sent = 0, received = 0;
  CommunicatorId communicator;
  std::int32_t root = kNoPeer;
};
// What events of a type are.
struct Meaning {
  EventKind kind;
  std::uint32_t name;
};

struct ThreadRecords {
  PrvFile file;  // changes and events by thread; types of events count meanings
  LargeArray<MessageEnd> ends;
  std::vector<std::size_t> first_change, first_event, first_end;  // of each thread, and behind the last
  std::vector<Meaning> meanings;
  std::vector<CollectiveValues> collectives;  // by the value of their events

  explicit ThreadRecords(PrvFile read) : file(std::move(read)) {}

  [[nodiscard]] std::span<const PrvChange> changes_of(std::size_t thread) const {
    return part(file.changes, first_change, thread);
  }
  [[nodiscard]] std::span<const PrvEvent> events_of(std::size_t thread) const {
    return part(file.events, first_event, thread);
  }
  [[nodiscard]] std::span<const MessageEnd> ends_of(std::size_t thread) const { return part(ends, first_end, thread); }
  // In nanoseconds, the last time included; nothing where nothing happens.
  [[nodiscard]] std::optional<TimeWindow> span_of(std::size_t thread) const;

 private:
  template <class T>
  static std::span<const T> part(const LargeArray<T>& items, const std::vector<std::size_t>& first,
                                 std::size_t thread) {
    return {items.data() + first[thread], first[thread + 1] - first[thread]};
  }
};

// `records` must outlive it.
std::unique_ptr<CopyableStream> open_stream(const ThreadRecords& records, LocationId location);

}  // namespace fathom::paraver
