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
  if (!scan.in_order) waiting_.reserve(4 * kSortWindow);
}

std::uint64_t DumpiStream::bytes() const {
  return sizeof *this + waiting_.size() * sizeof(Event) + tables_.bytes() + requests_.bytes();
}

// Made where it stays: events are large, and a copy of one that was just written waits for its last byte.
[[gnu::always_inline]] inline Event& DumpiStream::add(EventKind kind, bool at_exit) {
  Event& event = free_ != free_end_ ? *free_++ : waiting_.emplace_back();
  event.time_ns = at_exit ? stop_ns_ : start_ns_;
  event.record = call_.number;
  event.origin = Event::kNoRecord;
  event.value = 0;
  event.bytes = 0;
  event.location = location_;
  event.name = name_;
  event.peer = kNoPeer;
  event.tag = 0;
  event.communicator = CommunicatorId();
  event.kind = kind;
  event.has_time = timed_;
  event.has_value = true;
  event.carried = false;
  return event;
}

inline Event& DumpiStream::add_region(EventKind kind, bool at_exit) {
  Event& event = add(kind, at_exit);
  event.has_value = call_.has_cpu();
  if (event.has_value) event.value = at_exit ? call_.cpu_stop_ns : call_.cpu_start_ns;
  event.bytes = static_cast<std::int64_t>(call_.offset);  // so that the trace can show its arguments without a search
  return event;
}

// Keeps the waiting events in order of time; ties stay in the order in which they came.
void DumpiStream::put_in_order(std::size_t from) {
  for (; from < waiting_.size(); ++from) {
    // As a rule it is the latest.
    const bool late = waiting_[from].has_time && from > taken_ && waiting_[from - 1].has_time &&
                      waiting_[from - 1].time_ns > waiting_[from].time_ns;
    if (late) [[unlikely]]
      put_back(from);
  }
}

// The event goes where it belongs among those before it.
void DumpiStream::put_back(std::size_t at) {
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

void DumpiStream::send_event(const CommunicatorView& comm, std::int64_t dest, std::int64_t tag, std::int64_t bytes,
                             std::uint64_t origin) {
  Event& event = add(EventKind::send, false);
  event.origin = origin;
  event.peer = tables_.world_rank(comm, dest);
  event.tag = static_cast<std::int32_t>(tag);
  if (comm.global >= 0) event.communicator = CommunicatorId(static_cast<std::size_t>(comm.global));
  event.bytes = bytes;
  event.has_value = event.has_time;
  event.value = event.time_ns;
}

void DumpiStream::recv_event(const CommunicatorView& comm, std::int64_t source, std::int64_t tag, std::int64_t bytes,
                             std::uint64_t origin, std::int64_t posted_ns, const Status* status) {
  Event& event = add(EventKind::recv, true);
  event.origin = origin;
  event.has_value = event.has_time;
  event.value = posted_ns;
  if (comm.global >= 0) event.communicator = CommunicatorId(static_cast<std::size_t>(comm.global));
  event.bytes = bytes;
  if (status != nullptr) {
    if (status->cancelled != 0) {
      event.kind = EventKind::complete;
      event.bytes = 0;
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
  event.peer = wildcard ? trace_.sender_of_stranger(location_, strangers_++) : tables_.world_rank(comm, source);
  event.tag = static_cast<std::int32_t>(tag);
}

void DumpiStream::begun(const Call&, const Pending& pending) {
  if (pending.kind != Pending::Kind::send || !mine_) return;
  if (trace_.is_cancelled(where_.file, pending.sequence)) return;
  send_event(pending.communicator, pending.peer, pending.tag, pending.bytes, pending.made);
}

void DumpiStream::completed(const Call&, const Pending& pending, const Status* status) {
  if (!mine_) return;
  // Without a status a receive that was cancelled is taken to have got nothing.
  const bool nothing = pending.shared || (pending.cancelling && status == nullptr);
  if (pending.kind == Pending::Kind::recv && !nothing) {
    recv_event(pending.communicator, pending.peer, pending.tag, pending.bytes, pending.record, pending.posted_ns,
               status);
    return;
  }
  Event& event = add(EventKind::complete, true);
  event.origin = pending.record;
  event.bytes = pending.bytes;
}

void DumpiStream::user_function() {
  const auto address = static_cast<std::uint64_t>(call_.integer(0));
  const bool enter = call_.id == kFunctionEnter;
  const std::uint32_t marker = trace_.marker_of(where_.file, address);
  if (marker != Event::kNoName) {
    // An annotation is an enter and an exit in one place: one marker.
    if (enter) add(EventKind::marker, false).name = marker;
    return;
  }
  add_region(enter ? EventKind::enter : EventKind::leave, !enter).name =
      trace_.region_of_address(where_.file, address).value;
}

void DumpiStream::counters(bool at_exit) {
  const auto metrics = trace_.counters_of(where_.file);
  for (std::size_t i = 0; i < call_.counter_count && i < metrics.size(); ++i) {
    Event& event = add(EventKind::counter, at_exit);
    event.name = metrics[i];
    event.value = at_exit ? call_.counter_out(i) : call_.counter_in(i);
  }
}

void DumpiStream::collective_event() {
  const CollectiveFacts facts = collective_facts(call_, tables_);
  const Transfer transfer = transfer_of(call_, tables_, ByteRules::actual);
  Event& event = add(EventKind::collective, true);
  if (facts.communicator >= 0) event.communicator = CommunicatorId(static_cast<std::size_t>(facts.communicator));
  event.peer = facts.root;
  event.bytes = transfer.sent;
  event.value = transfer.received;
  event.tag = zero_counts(call_);
}

void DumpiStream::messages_of() {
  const auto status_at = [&](std::size_t argument, Status& status) {
    const Statuses statuses = call_.statuses(argument);
    if (statuses.empty()) return static_cast<const Status*>(nullptr);
    status = statuses[0];
    return static_cast<const Status*>(&status);
  };
  Status status;
  if (touches_requests(call_.id)) {
    requests_.follow(call_, tables_, start_ns_, *this);
    return;
  }
  switch (role_of(call_.id)) {
    case Role::send: {
      const PointToPoint message(call_, false);
      return send_event(tables_.communicator(message.communicator), message.peer, message.tag,
                        transfer_of(call_, tables_, ByteRules::actual).sent, call_.number);
    }
    case Role::recv: {
      const PointToPoint message(call_, false);
      return recv_event(tables_.communicator(message.communicator), message.peer, message.tag,
                        transfer_of(call_, tables_, ByteRules::actual).received, call_.number, start_ns_,
                        status_at(5, status));
    }
    case Role::sendrecv: {
      const bool replace = call_.id == ids::kSendrecvReplace;
      const Transfer transfer = transfer_of(call_, tables_, ByteRules::actual);
      const CommunicatorView& comm = tables_.communicator(call_.integer(replace ? 6 : 8));
      send_event(comm, call_.integer(2), call_.integer(3), transfer.sent, call_.number);
      return recv_event(comm, call_.integer(replace ? 4 : 6), call_.integer(replace ? 5 : 7), transfer.received,
                        call_.number, start_ns_, status_at(replace ? 7 : 9, status));
    }
    case Role::collective:
      return collective_event();
    default:
      return;
  }
}

// All that a call comes to in one function: this is the inner loop.
[[gnu::flatten]] void DumpiStream::events_of_call() {
  if (call_.id >= kFunctionEnter) {
    user_function();
    return;
  }
  add_entry_facts(call_, tables_, add_region(EventKind::enter, false));
  if (call_.counter_count > 0) counters(false);
  messages_of();
  if (call_.counter_count > 0) counters(true);
  add_exit_facts(call_, tables_, add_region(EventKind::leave, true));
}

bool DumpiStream::next_chunk() {
  if (chunk_ == scan_.chunks.size()) return false;
  const Chunk& chunk = scan_.chunks[chunk_++];
  at_ = base_ + chunk.offset;
  chunk_end_ = base_ + chunk.end;
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
  call_.offset = static_cast<std::uint64_t>(begin - base_);
  rollover_.apply(call_, file_.cpu_zero_ns(), file_.wall_zero_ns());
  at_ += call_.size;
  tables_.advance(call_.number);
  timed_ = use_cpu_ ? call_.has_cpu() : call_.has_wall();
  start_ns_ = !timed_ ? 0 : use_cpu_ ? call_.cpu_start_ns : call_.wall_start_ns;
  stop_ns_ = !timed_ ? 0 : use_cpu_ ? call_.cpu_stop_ns : call_.wall_stop_ns;
  name_ = trace_.region_of(call_.id).value;
  mine_ = mine;
  if (mine) {
    events_of_call();
  } else {
    requests_.follow(call_, tables_, start_ns_, *this);
  }
}

std::size_t DumpiStream::take_ready(std::span<Event> out) {
  const std::size_t count = std::min(out.size(), ready_ - taken_);
  std::copy_n(waiting_.begin() + static_cast<std::ptrdiff_t>(taken_), count, out.begin());
  taken_ += count;
  if (taken_ == ready_) {
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(taken_));
    taken_ = ready_ = 0;
  }
  return count;
}

Result<std::size_t> DumpiStream::next(std::span<Event> out) {
  const auto held = done_ ? nullptr : file_.hold();
  base_ = done_ ? nullptr : held->bytes().data();
  at_ = base_ + offset_;
  chunk_end_ = base_ + end_offset_;
  const std::size_t count = scan_.in_order ? next_in_order(out) : next_sorted(out);
  offset_ = done_ ? 0 : static_cast<std::uint64_t>(at_ - base_);
  end_offset_ = done_ ? 0 : static_cast<std::uint64_t>(chunk_end_ - base_);
  return count;
}

// Nothing can come that belongs before what there is: events are made where they are wanted. What the last record has
// too many of waits.
std::size_t DumpiStream::next_in_order(std::span<Event> out) {
  const std::size_t before = take_ready(out);
  free_ = out.data() + before;
  free_end_ = out.data() + out.size();
  while (!done_ && free_ != free_end_) read_record();
  const auto count = static_cast<std::size_t>(free_ - out.data());
  free_ = free_end_ = nullptr;
  ready_ = waiting_.size();
  return count;
}

std::size_t DumpiStream::next_sorted(std::span<Event> out) {
  std::size_t count = 0;
  while (count < out.size()) {
    while (!done_ && ready_ == 0) {
      const std::size_t known = waiting_.size();
      read_record();
      put_in_order(known);
      release(done_);
    }
    if (done_) release(true);
    if (ready_ == 0) break;
    count += take_ready(out.subspan(count));
  }
  return count;
}

}  // namespace fathom::dumpi
