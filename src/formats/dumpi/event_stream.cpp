#include "formats/dumpi/event_stream.hpp"

#include <algorithm>

namespace fathom::dumpi {

namespace {
// Records of one thread come in the order of completion, so that events are in order but for calls inside calls.
// That many events may wait for an earlier one.
constexpr std::size_t kSortWindow = 256;
constexpr std::int32_t kAnySource = -1;
constexpr std::int32_t kAnyTag = -1;
}  // namespace

DumpiStream::DumpiStream(const DumpiTrace& trace, const File& file, const ScanResult& scan, LocationId location,
                         TimeWindow window)
    : trace_(trace),
      file_(file),
      scan_(scan),
      location_(location),
      where_(trace.where(location)),
      window_(window),
      tables_(file, trace.resolution(), where_.file, trace.set().files()[where_.file].rank),
      use_cpu_(!scan.any_wall && scan.any_cpu) {
  waiting_.reserve(4 * kSortWindow);
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
  return event;
}

// Keeps the waiting events in order of time; ties stay in the order in which they came.
void DumpiStream::push(const Event& event) {
  std::size_t at = waiting_.size();
  waiting_.push_back(event);
  if (!event.has_time) return;
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
  } else if (waiting_.size() - ready_ > 2 * kSortWindow) {
    ready_ = waiting_.size() - kSortWindow;
  }
}

void DumpiStream::send_event(const Call& call, const CommunicatorView& comm, std::int64_t dest, std::int64_t tag,
                             std::int64_t bytes) {
  Event event = base(call, EventKind::send, false);
  event.origin = call.number;
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

void DumpiStream::completed(const Call& call, std::int64_t request, const Status* status) {
  const bool io = call.id >= ids::kMpioTest && call.id <= ids::kMpioTestsome;
  const auto done = (io ? io_requests_ : requests_).complete(request);
  if (!done || call.thread != where_.thread) return;
  if (done->kind == Pending::Kind::recv && !done->shared) {
    recv_event(call, done->communicator, done->source, done->tag, done->bytes, done->record, done->posted_ns, status);
    return;
  }
  Event event = base(call, EventKind::complete, true);
  event.origin = done->record;
  event.bytes = done->bytes;
  push(event);
}

void DumpiStream::started(const Call& call, std::int64_t request) {
  const Pending* pending = requests_.restart(request, call.number, entered(call));
  if (pending == nullptr || pending->kind != Pending::Kind::send || call.thread != where_.thread) return;
  send_event(call, pending->communicator, pending->source, pending->tag, pending->bytes);
}

void DumpiStream::completions(const Call& call) {
  const auto id_of = [&](std::int64_t raw) { return file_.decoder().rules().narrow_requests ? raw & 0xFF : raw; };
  const auto one = [&](std::size_t request, std::size_t status) {
    const Statuses statuses = call.statuses(status);
    const Status first = statuses.empty() ? Status{} : statuses[0];
    completed(call, id_of(call.integer(request)), statuses.empty() ? nullptr : &first);
  };
  // The request at position `index` of the list, with the status at `n`.
  const auto nth = [&](std::size_t requests, std::int64_t index, std::size_t statuses, std::uint32_t n) {
    const Values list = call.values(requests);
    if (index < 0 || index >= static_cast<std::int64_t>(list.size())) return;
    const Statuses all = call.statuses(statuses);
    const Status status = n < all.size() ? all[n] : Status{};
    completed(call, id_of(list[static_cast<std::size_t>(index)]), n < all.size() ? &status : nullptr);
  };
  switch (call.id) {
    case ids::kWait:
    case ids::kMpioWait:
      one(0, 1);
      break;
    case ids::kTest:
    case ids::kMpioTest:
      if (call.integer(1) != 0) one(0, 2);
      break;
    case ids::kWaitany:
      nth(1, call.integer(2), 3, 0);
      break;
    case ids::kMpioWaitany:
      nth(1, call.integer(2), 3, 0);
      break;
    case ids::kTestany:
      if (call.integer(3) != 0) nth(1, call.integer(2), 4, 0);
      break;
    case ids::kMpioTestany:
      if (call.integer(2) != 0) nth(1, call.integer(3), 4, 0);
      break;
    case ids::kWaitall:
    case ids::kMpioWaitall:
    case ids::kTestall:
    case ids::kMpioTestall: {
      const bool test = call.id == ids::kTestall || call.id == ids::kMpioTestall;
      if (test && call.integer(2) == 0) break;
      const std::uint32_t count = call.values(1).size();
      for (std::uint32_t n = 0; n < count; ++n) nth(1, n, test ? 3 : 2, n);
      break;
    }
    default: {  // the four "some"
      const Values indices = call.values(3);
      for (std::uint32_t n = 0; n < indices.size(); ++n) nth(1, indices[n], 4, n);
    }
  }
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

void DumpiStream::events_of(const Call& call) {
  const bool mine = call.thread == where_.thread;
  if (call.id >= kFunctionEnter) {
    if (mine) user_function(call);
    return;
  }
  const Role role = role_of(call.id);
  // Requests belong to the process: other threads' calls count, too.
  if (!mine && role != Role::send && role != Role::recv && role != Role::send_init && role != Role::recv_init &&
      role != Role::wait && role != Role::io && call.id != ids::kStart && call.id != ids::kStartall &&
      call.id != ids::kRequestFree) {
    return;
  }
  if (mine) {
    push(base(call, EventKind::enter, false));
    const auto metrics = trace_.counters_of(where_.file);
    for (std::size_t i = 0; i < call.counter_count && i < metrics.size(); ++i) {
      Event event = base(call, EventKind::counter, false);
      event.name = metrics[i];
      event.value = call.counter_in(i);
      push(event);
    }
  }
  const auto request_id = [&](std::size_t argument) {
    const std::int64_t raw = call.integer(argument);
    return file_.decoder().rules().narrow_requests ? raw & 0xFF : raw;
  };
  const auto pending = [&](Pending::Kind kind, bool persistent) {
    Pending entry;
    entry.kind = kind;
    entry.persistent = persistent;
    entry.active = !persistent;
    entry.record = call.number;
    entry.posted_ns = entered(call);
    entry.source = static_cast<std::int32_t>(call.integer(2));
    entry.tag = static_cast<std::int32_t>(call.integer(3));
    entry.bytes = static_cast<std::int64_t>(static_cast<std::uint64_t>(call.integer(0)) *
                                            static_cast<std::uint64_t>(tables_.size_of(call.integer(1))));
    entry.call = call.id;
    entry.communicator = tables_.communicator(call.integer(4));
    return entry;
  };
  switch (role) {
    case Role::send: {
      const Transfer transfer = transfer_of(call, tables_, ByteRules::actual);
      if (mine) {
        send_event(call, tables_.communicator(call.integer(4)), call.integer(2), call.integer(3), transfer.sent);
      }
      if (!is_blocking(call.id)) requests_.begin(request_id(5), pending(Pending::Kind::send, false));
      break;
    }
    case Role::recv:
      if (call.id == ids::kIrecv) {
        requests_.begin(request_id(5), pending(Pending::Kind::recv, false));
      } else if (mine) {
        const Statuses statuses = call.statuses(5);
        const Status status = statuses.empty() ? Status{} : statuses[0];
        recv_event(call, tables_.communicator(call.integer(4)), call.integer(2), call.integer(3),
                   transfer_of(call, tables_, ByteRules::actual).received, call.number, entered(call),
                   statuses.empty() ? nullptr : &status);
      }
      break;
    case Role::send_init:
      requests_.begin(request_id(5), pending(Pending::Kind::send, true));
      break;
    case Role::recv_init:
      requests_.begin(request_id(5), pending(Pending::Kind::recv, true));
      break;
    case Role::sendrecv: {
      const bool replace = call.id == ids::kSendrecvReplace;
      const Transfer transfer = transfer_of(call, tables_, ByteRules::actual);
      const CommunicatorView& comm = tables_.communicator(call.integer(replace ? 6 : 8));
      send_event(call, comm, call.integer(2), call.integer(3), transfer.sent);
      const Statuses statuses = call.statuses(replace ? 7 : 9);
      const Status status = statuses.empty() ? Status{} : statuses[0];
      recv_event(call, comm, call.integer(replace ? 4 : 6), call.integer(replace ? 5 : 7), transfer.received,
                 call.number, entered(call), statuses.empty() ? nullptr : &status);
      break;
    }
    case Role::collective: {
      const CollectiveFacts facts = collective_facts(call, tables_);
      const Transfer transfer = transfer_of(call, tables_, ByteRules::actual);
      Event event = base(call, EventKind::collective, true);
      if (facts.communicator >= 0) event.communicator = CommunicatorId(static_cast<std::size_t>(facts.communicator));
      event.peer = facts.root;
      event.bytes = transfer.sent;
      event.value = transfer.received;
      push(event);
      break;
    }
    case Role::io: {
      const Function& function = call.function();
      const std::size_t last = function.argument_count - std::size_t{1};
      if (function.argument[last].type == Type::iorequest) {
        Pending entry;
        entry.kind = Pending::Kind::io;
        entry.record = call.number;
        entry.bytes = transfer_of(call, tables_, ByteRules::actual).io;
        io_requests_.begin(request_id(last), entry);
      }
      break;
    }
    case Role::wait:
      completions(call);
      break;
    default:
      if (call.id == ids::kStart) {
        started(call, request_id(0));
      } else if (call.id == ids::kStartall) {
        const Values list = call.values(1);
        for (std::uint32_t n = 0; n < list.size(); ++n) {
          started(call, file_.decoder().rules().narrow_requests ? list[n] & 0xFF : list[n]);
        }
      } else if (call.id == ids::kRequestFree) {
        requests_.free(request_id(0));
      }
  }
  if (!mine) return;
  const auto metrics = trace_.counters_of(where_.file);
  for (std::size_t i = 0; i < call.counter_count && i < metrics.size(); ++i) {
    Event event = base(call, EventKind::counter, true);
    event.name = metrics[i];
    event.value = call.counter_out(i);
    push(event);
  }
  push(base(call, EventKind::leave, true));
}

void DumpiStream::read_record() {
  while (at_ == chunk_end_) {
    if (chunk_ == scan_.chunks.size()) {
      done_ = true;
      return;
    }
    const Chunk& chunk = scan_.chunks[chunk_++];
    at_ = file_.at(chunk.offset);
    chunk_end_ = file_.at(chunk.end);
    rollover_ = chunk.rollover;
    number_ = chunk.first;
  }
  if (file_.decoder().decode(at_, chunk_end_, call_) != Decoder::Outcome::ok) {
    done_ = true;
    return;
  }
  call_.number = number_++;
  call_.offset = static_cast<std::uint64_t>(at_ - file_.at(0));
  rollover_.apply(call_, std::int64_t{file_.cpu_bias()} * 1'000'000'000,
                  std::int64_t{file_.wall_bias()} * 1'000'000'000);
  at_ += call_.size;
  tables_.advance(call_.number);
  events_of(call_);
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
    const Event& event = waiting_[taken_++];
    if (window_.contains(event)) out[count++] = event;
  }
  return count;
}

}  // namespace fathom::dumpi
