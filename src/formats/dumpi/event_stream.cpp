#include "formats/dumpi/event_stream.hpp"

#include <algorithm>

#include "formats/dumpi/call_facts.hpp"

namespace fathom::dumpi {

namespace {
// Records of one thread come in the order of completion, so that events are in order but for calls inside calls.
// That many events may wait for an earlier one.
constexpr std::size_t kSortWindow = 256;
constexpr std::size_t kReleased = 512;  // events that go at a time
constexpr std::int32_t kAnySource = -1;
constexpr std::int32_t kAnyTag = -1;
}  // namespace

DumpiStream::DumpiStream(const DumpiTrace& trace, const File& file, const ScanResult& scan, LocationId location)
    : trace_(trace),
      file_(file),
      scan_(scan),
      location_(location),
      where_(trace.where(location)),
      tables_(file, trace.resolution(), where_.file, trace.set().files()[where_.file].rank),
      requests_(file.decoder().rules()),
      use_cpu_(!scan.any_wall && scan.any_cpu) {
  waiting_.reserve(4 * kSortWindow);
}

std::uint64_t DumpiStream::bytes() const {
  return sizeof *this + waiting_.size() * sizeof(Event) + tables_.bytes() + requests_.bytes();
}

Event DumpiStream::base(const Call& call, EventKind kind, bool at_exit) const {
  Event event;
  event.kind = kind;
  event.location = location_;
  event.record = call.number;
  event.name = trace_.region_of(call.id).value;
  if (use_cpu_) {
    event.has_time = call.has_cpu();
    event.time_ns = at_exit ? call.cpu_stop_ns : call.cpu_start_ns;
  } else {
    event.has_time = call.has_wall();
    event.time_ns = at_exit ? call.wall_stop_ns : call.wall_start_ns;
  }
  if (!event.has_time) event.time_ns = 0;
  if (kind == EventKind::enter || kind == EventKind::leave) {
    event.has_value = call.has_cpu();
    event.value = !call.has_cpu() ? 0 : at_exit ? call.cpu_stop_ns : call.cpu_start_ns;
  }
  return event;
}

namespace {
// Where a region has no CPU time its value says where the record is, so that the trace can show its arguments without a
// search.
Event at_record(Event event, const Call& call) {
  if (!event.has_value) event.value = static_cast<std::int64_t>(call.offset);
  return event;
}
}  // namespace

// Keeps the waiting events in order of time; ties stay in the order in which they came.
void DumpiStream::push(const Event& event) {
  // As a rule it is the latest.
  const bool late =
      event.has_time && waiting_.size() > taken_ && waiting_.back().has_time && waiting_.back().time_ns > event.time_ns;
  waiting_.push_back(event);
  if (late) [[unlikely]]
    put_in_order();
}

// The last event goes where it belongs.
void DumpiStream::put_in_order() {
  std::size_t at = waiting_.size() - 1;
  const Event event = waiting_[at];
  while (at > taken_ && waiting_[at - 1].has_time && waiting_[at - 1].time_ns > event.time_ns) {
    if (at == ready_) {
      // What is ready may already be gone: the file is out of order by more than the window.
      if (!reported_) {
        reported_ = true;
        (void)trace_.set().work()->diagnostics.warn(
            "dumpi.unsorted", file_.place(call_.offset),
            "records are out of order by more than can be sorted while reading; their events come late");
      }
      break;
    }
    waiting_[at] = waiting_[at - 1];
    --at;
  }
  waiting_[at] = event;
}

void DumpiStream::release(bool all) {
  if (all) {
    ready_ = waiting_.size();
  } else if (waiting_.size() - ready_ > kSortWindow + kReleased) {
    ready_ = waiting_.size() - kSortWindow;
  }
}

void DumpiStream::send_event(const Call& call, const CommunicatorView& comm, std::int64_t dest, std::int64_t tag,
                             std::int64_t bytes, std::uint64_t origin) {
  Event event = base(call, EventKind::send, false);
  event.origin = origin;
  event.peer = tables_.world_rank(comm, dest);
  event.tag = static_cast<std::int32_t>(tag);
  if (comm.global >= 0) event.communicator = CommunicatorId(static_cast<std::size_t>(comm.global));
  event.bytes = bytes;
  event.has_value = event.has_time;
  event.value = event.time_ns;
  push(event);
}

void DumpiStream::recv_event(const Call& call, const CommunicatorView& comm, std::int64_t source, std::int64_t tag,
                             std::int64_t bytes, std::uint64_t origin, std::int64_t posted_ns, const Status* status) {
  Event event = base(call, EventKind::recv, true);
  event.origin = origin;
  event.has_value = event.has_time;
  event.value = posted_ns;
  if (comm.global >= 0) event.communicator = CommunicatorId(static_cast<std::size_t>(comm.global));
  event.bytes = bytes;
  if (status != nullptr) {
    if (status->cancelled != 0) {
      event.kind = EventKind::complete;
      event.bytes = 0;
      push(event);
      return;
    }
    event.bytes = status->bytes >= 0 ? status->bytes : bytes;
    // A receive from the null process looks like one from anybody; what its status holds is up to the library, but
    // a real match has the tag that was asked for. Old files keep no tag.
    const bool other_tag = tag != kAnyTag && status->tag != tag && file_.decoder().rules().status_size >= 14;
    if (source < 0) source = other_tag ? -2 : status->source;
    if (tag == kAnyTag) tag = status->tag;
  }
  const bool wildcard = source == kAnySource && status == nullptr;
  event.peer = wildcard ? kUnknownPeer : tables_.world_rank(comm, source);
  event.tag = static_cast<std::int32_t>(tag);
  push(event);
}

void DumpiStream::begun(const Call& call, const Pending& pending) {
  if (pending.kind != Pending::Kind::send || silent(call)) return;
  if (trace_.is_cancelled(where_.file, pending.sequence)) return;
  send_event(call, pending.communicator, pending.peer, pending.tag, pending.bytes, pending.made);
}

void DumpiStream::completed(const Call& call, const Pending& pending, const Status* status) {
  if (silent(call)) return;
  // Without a status a receive that was cancelled is taken to have got nothing.
  const bool nothing = pending.shared || (pending.cancelling && status == nullptr);
  if (pending.kind == Pending::Kind::recv && !nothing) {
    recv_event(call, pending.communicator, pending.peer, pending.tag, pending.bytes, pending.record, pending.posted_ns,
               status);
    return;
  }
  Event event = base(call, EventKind::complete, true);
  event.origin = pending.record;
  event.bytes = pending.bytes;
  push(event);
}

void DumpiStream::user_function(const Call& call) {
  const auto address = static_cast<std::uint64_t>(call.integer(0));
  const bool enter = call.id == kFunctionEnter;
  const std::uint32_t marker = trace_.marker_of(where_.file, address);
  if (marker != Event::kNoName) {
    // An annotation is an enter and an exit in one place: one marker.
    if (!enter) return;
    Event event = base(call, EventKind::marker, false);
    event.name = marker;
    push(event);
    return;
  }
  Event event = base(call, enter ? EventKind::enter : EventKind::leave, !enter);
  event.name = trace_.region_of_address(where_.file, address).value;
  push(event);
}

void DumpiStream::counters(const Call& call, bool at_exit) {
  const auto metrics = trace_.counters_of(where_.file);
  for (std::size_t i = 0; i < call.counter_count && i < metrics.size(); ++i) {
    Event event = base(call, EventKind::counter, at_exit);
    event.name = metrics[i];
    event.value = at_exit ? call.counter_out(i) : call.counter_in(i);
    push(event);
  }
}

void DumpiStream::collective_event(const Call& call) {
  const CollectiveFacts facts = collective_facts(call, tables_);
  const Transfer transfer = transfer_of(call, tables_, ByteRules::actual);
  Event event = base(call, EventKind::collective, true);
  if (facts.communicator >= 0) event.communicator = CommunicatorId(static_cast<std::size_t>(facts.communicator));
  event.peer = facts.root;
  event.bytes = transfer.sent;
  event.value = transfer.received;
  event.tag = zero_counts(call);
  push(event);
}

void DumpiStream::events_of(const Call& call) {
  if (call.id >= kFunctionEnter) {
    user_function(call);
    return;
  }
  Event entered_event = at_record(base(call, EventKind::enter, false), call);
  add_entry_facts(call, tables_, entered_event);
  push(entered_event);
  counters(call, false);
  const auto status_at = [&](std::size_t argument, Status& status) {
    const Statuses statuses = call.statuses(argument);
    if (statuses.empty()) return static_cast<const Status*>(nullptr);
    status = statuses[0];
    return static_cast<const Status*>(&status);
  };
  Status status;
  const Role role = role_of(call.id);
  if (touches_requests(call.id)) {
    requests_.follow(call, tables_, entered(call), *this);
  } else if (role == Role::send) {
    send_event(call, tables_.communicator(call.integer(4)), call.integer(2), call.integer(3),
               transfer_of(call, tables_, ByteRules::actual).sent, call.number);
  } else if (role == Role::recv) {
    recv_event(call, tables_.communicator(call.integer(4)), call.integer(2), call.integer(3),
               transfer_of(call, tables_, ByteRules::actual).received, call.number, entered(call),
               status_at(5, status));
  } else if (role == Role::sendrecv) {
    const bool replace = call.id == ids::kSendrecvReplace;
    const Transfer transfer = transfer_of(call, tables_, ByteRules::actual);
    const CommunicatorView& comm = tables_.communicator(call.integer(replace ? 6 : 8));
    send_event(call, comm, call.integer(2), call.integer(3), transfer.sent, call.number);
    recv_event(call, comm, call.integer(replace ? 4 : 6), call.integer(replace ? 5 : 7), transfer.received, call.number,
               entered(call), status_at(replace ? 7 : 9, status));
  } else if (role == Role::collective) {
    collective_event(call);
  }
  counters(call, true);
  Event left_event = at_record(base(call, EventKind::leave, true), call);
  add_exit_facts(call, tables_, left_event);
  push(left_event);
}

bool DumpiStream::next_chunk() {
  if (chunk_ == scan_.chunks.size()) return false;
  const Chunk& chunk = scan_.chunks[chunk_++];
  at_ = file_.at(chunk.offset);
  chunk_end_ = file_.at(chunk.end);
  rollover_ = chunk.rollover;
  number_ = chunk.first;
  return true;
}

void DumpiStream::read_record() {
  if (at_ == chunk_end_ && !next_chunk()) {
    done_ = true;
    return;
  }
  const std::byte* const begin = at_;
  const auto id = detail::load<std::uint16_t>(begin);
  const bool has_thread = (static_cast<std::uint8_t>(begin[2]) & kMaskThread) != 0;
  const std::uint16_t thread = has_thread ? detail::load<std::uint16_t>(begin + 3) : std::uint16_t{0};
  const bool mine = thread == where_.thread;
  // Requests belong to the process: other threads' calls count, too.
  if (!mine && !touches_requests(id)) {
    done_ = file_.decoder().skip(at_, chunk_end_) != Decoder::Outcome::ok;
    if (!done_) rollover_.pass(begin);
    ++number_;
    return;
  }
  if (file_.decoder().decode(begin, chunk_end_, call_) != Decoder::Outcome::ok) {
    done_ = true;
    return;
  }
  call_.number = number_++;
  call_.offset = static_cast<std::uint64_t>(begin - file_.at(0));
  rollover_.apply(call_, std::int64_t{file_.cpu_bias()} * 1'000'000'000, file_.wall_zero_ns());
  at_ += call_.size;
  tables_.advance(call_.number);
  if (mine) {
    events_of(call_);
  } else {
    requests_.follow(call_, tables_, entered(call_), *this);
  }
}

Result<std::size_t> DumpiStream::next(std::span<Event> out) {
  std::size_t count = 0;
  while (count < out.size()) {
    if (taken_ == ready_) {
      waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(taken_));
      taken_ = 0;
      ready_ = 0;
      while (!done_ && ready_ == 0) {
        read_record();
        release(done_);
      }
      if (done_) release(true);
      if (ready_ == 0) break;
    }
    const std::size_t some = std::min(out.size() - count, ready_ - taken_);
    std::copy_n(waiting_.begin() + static_cast<std::ptrdiff_t>(taken_), some,
                out.begin() + static_cast<std::ptrdiff_t>(count));
    taken_ += some;
    count += some;
  }
  return count;
}

}  // namespace fathom::dumpi
