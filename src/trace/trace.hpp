// Level 1: per location a time-ordered stream of events. Formats derive from Trace and decode on demand.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/work.hpp"
#include "defs/definitions.hpp"
#include "trace/event.hpp"

namespace fathom {

// Something of a location that has one value at a time: what subsystem it is in, on which CPU it runs.
struct Channel {
  std::string name;
  std::string title;
  bool stack = false;                          // values are pushed and popped; events carry the top
  std::map<std::int64_t, std::string> values;  // names of values, where they have any
};

// A group of ranks that exchange messages, one entry for the whole run.
struct Communicator {
  std::string name;
  std::vector<std::int32_t> ranks;         // ranks of the whole run by rank in the communicator; empty = not known
  std::vector<std::int32_t> remote_ranks;  // of an inter-communicator's other side
};

// Something that is read and written.
struct Handle {
  std::string name;
  std::string file;  // path, where known
};

// The events of one location, in time order. MT: externally synchronised; different streams are independent.
class EventStream {
 public:
  virtual ~EventStream() = default;
  // Fills the front of `out` and says how many; 0 = the end.
  virtual Result<std::size_t> next(std::span<Event> out) = 0;
};

// A message that was matched: both ends.
struct Message {
  LocationId from;
  LocationId to;
  std::int32_t from_rank = kUnknownPeer;
  std::int32_t to_rank = kUnknownPeer;
  std::int32_t tag = 0;
  CommunicatorId communicator;
  std::int64_t bytes = 0;
  std::optional<std::int64_t> sent_ns;      // entry of the sending call
  std::optional<std::int64_t> received_ns;  // when the receive was over
  std::uint64_t send_record = Event::kNoRecord;
  std::uint64_t recv_record = Event::kNoRecord;
};
// Returns false to end the enumeration.
using MessageSink = std::function<bool(const Message&)>;

// MT: every const method is safe.
class Trace {
 public:
  virtual ~Trace() = default;

  [[nodiscard]] const Definitions& definitions() const { return definitions_; }
  [[nodiscard]] std::size_t location_count() const { return definitions_.system.location_count(); }
  [[nodiscard]] std::span<const Channel> channels() const { return channels_; }
  [[nodiscard]] std::span<const std::string> markers() const { return markers_; }
  [[nodiscard]] std::span<const Communicator> communicators() const { return communicators_; }
  [[nodiscard]] std::span<const Handle> handles() const { return handles_; }
  // Of an event of kind marker.
  [[nodiscard]] MarkerMeaning meaning(const Event& event) const {
    return event.name < meanings_.size() ? meanings_[event.name] : MarkerMeaning::none;
  }

  // Whether the origin of a marker is the record of any event of the trace that it comes from (an arrow of a viewer):
  // records are numbered over all locations then.
  [[nodiscard]] virtual bool has_arrows() const { return false; }

  // Channels that say what a location does where the trace has no regions to enter, outermost first.
  [[nodiscard]] std::span<const ChannelId> activity_channels() const { return activity_channels_; }
  // Whether enter and leave carry the CPU time of the location as their value.
  [[nodiscard]] bool has_cpu_time() const { return has_cpu_time_; }

  // A stream over one location. Events outside the window are left out; a format that can seek does. What is in effect
  // where the window begins comes first, marked as carried and with its own time: the enters of open regions (outermost
  // first), the last value of every channel and counter, the last sample. Regions that are open at the end of the
  // window are not closed: whoever needs a leave takes the window's end. Streams must not outlive the trace.
  [[nodiscard]] virtual Result<std::unique_ptr<EventStream>> open(LocationId location, TimeWindow window) const = 0;

  // The name that `events` prints: of the region, context (its region), channel, metric or marker.
  [[nodiscard]] std::string_view name(const Event& event) const;
  // Appends `key=value` joined with ';': all that the native record holds. The default shows the event's own fields.
  virtual Result<void> detail(const Event& event, std::string& out) const;

  // First and last time of the trace, where it is known or cheap to find; nothing = not without a full pass.
  [[nodiscard]] virtual std::optional<TimeWindow> known_span() const { return std::nullopt; }
  // The same of one location.
  [[nodiscard]] virtual std::optional<TimeWindow> location_span(LocationId) const { return std::nullopt; }
  // Native records of a location, where known without a full pass.
  [[nodiscard]] virtual std::optional<std::uint64_t> known_records(LocationId) const { return std::nullopt; }

  // Messages with both ends, grouped by receiver, then by sender, communicator and tag. The default matches send and
  // recv events of equal four in the order in which they were posted; memory is bounded, whatever does not fit goes to
  // a temporary file. What finds no partner is noted in the diagnostics.
  virtual Result<void> messages(TimeWindow window, const MessageSink& sink) const;

 protected:
  Definitions definitions_;
  std::vector<Channel> channels_;
  std::vector<std::string> markers_;
  std::vector<MarkerMeaning> meanings_;  // of markers_; may be shorter
  std::vector<Handle> handles_;
  std::vector<Communicator> communicators_;
  std::vector<ChannelId> activity_channels_;
  bool has_cpu_time_ = false;
  Work work_;  // budget and diagnostics; null = none

 private:
  void marker_detail(const Event& event, std::string& out) const;
};

// Pulls one event after another out of a stream through a buffer.
class EventCursor {
 public:
  // Of `batch` events at a time. Most locations of large systems have few: room for all grows only as it is filled.
  explicit EventCursor(std::unique_ptr<EventStream> stream, std::size_t batch = 256)
      : stream_(std::move(stream)), buffer_(std::min<std::size_t>(batch, 16)), batch_(batch) {}

  // The next event, valid until the next call; null at the end or after an error (see status()).
  const Event* next() {
    if (at_ == end_ && !refill()) return nullptr;
    return &buffer_[at_++];
  }
  [[nodiscard]] Result<void> status() const {
    if (error_) return *error_;
    return {};
  }

 private:
  bool refill();
  std::unique_ptr<EventStream> stream_;
  std::vector<Event> buffer_;
  std::size_t batch_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  std::optional<Error> error_;
};

}  // namespace fathom
