#include "formats/paraver/thread_records.hpp"

namespace fathom::paraver {

namespace {

class ParaverStream : public CopyableStream {
 public:
  ParaverStream(const ThreadRecords& records, LocationId location)
      : records_(&records),
        location_(location),
        changes_(records.changes_of(location.index())),
        events_(records.events_of(location.index())),
        ends_(records.ends_of(location.index())) {}

  Result<std::size_t> next(std::span<Event> out) override {
    std::size_t count = 0;
    for (; count < out.size(); ++count) {
      Event event;
      event.location = location_;
      if (comes_first(changes_, events_) && comes_first(changes_, ends_)) {
        take(changes_, event);
      } else if (comes_first(events_, ends_)) {
        take(events_, event);
      } else if (!ends_.empty()) {
        take(ends_, event);
      } else {
        break;
      }
      out[count] = event;
    }
    return count;
  }
  [[nodiscard]] std::unique_ptr<CopyableStream> copy() const override { return std::make_unique<ParaverStream>(*this); }
  [[nodiscard]] std::uint64_t bytes() const override { return sizeof *this; }

 private:
  template <class A, class B>
  static bool comes_first(std::span<const A> a, std::span<const B> b) {
    return !a.empty() && (b.empty() || a.front().time <= b.front().time);
  }
  template <class T>
  void take(std::span<const T>& from, Event& event) const {
    event.time_ns = records_->file.nanoseconds(from.front().time);
    fill(from.front(), event);
    from = from.subspan(1);
  }

  static void fill(const PrvChange& change, Event& event) {
    event.kind = EventKind::state;
    event.name = 0;
    event.value = change.state;
    event.has_value = change.begins;
  }
  void fill(const PrvEvent& from, Event& event) const {
    const Meaning& meaning = records_->meanings[from.type];
    event.kind = meaning.kind;
    event.name = meaning.name;
    if (meaning.kind == EventKind::collective) {
      const CollectiveValues& values = records_->collectives[static_cast<std::size_t>(from.value)];
      event.bytes = values.sent;
      event.value = values.received;
      event.communicator = values.communicator;
      event.peer = values.root;
      return;
    }
    event.value = from.value;
    event.has_value = meaning.kind != EventKind::state || from.value != 0;
  }
  void fill(const MessageEnd& end, Event& event) const {
    if (end.what == MessageEnd::idle_ends) return fill(PrvChange{end.time, 0, 0, false}, event);
    const PrvMessage& message = records_->file.messages[end.message];
    const bool sent = end.what == MessageEnd::sent;
    event.kind = sent ? EventKind::send : EventKind::recv;
    event.name = sent ? 0 : 1;
    event.peer = static_cast<std::int32_t>(records_->file.threads[sent ? message.to : message.from].task);
    event.tag = static_cast<std::int32_t>(message.tag);
    event.bytes = message.bytes;
    event.communicator = CommunicatorId(0);
  }

  const ThreadRecords* records_;
  LocationId location_;
  std::span<const PrvChange> changes_;
  std::span<const PrvEvent> events_;
  std::span<const MessageEnd> ends_;
};

}  // namespace

std::optional<TimeWindow> ThreadRecords::span_of(std::size_t thread) const {
  std::optional<TimeWindow> found;
  const auto add = [&](const auto& items) {
    if (items.empty()) return;
    const TimeWindow span{file.nanoseconds(items.front().time), file.nanoseconds(items.back().time)};
    found = found ? TimeWindow{std::min(found->from_ns, span.from_ns), std::max(found->to_ns, span.to_ns)} : span;
  };
  add(changes_of(thread));
  add(events_of(thread));
  add(ends_of(thread));
  return found;
}

std::unique_ptr<CopyableStream> open_stream(const ThreadRecords& records, LocationId location) {
  return std::make_unique<ParaverStream>(records, location);
}

}  // namespace fathom::paraver
