// What each kind of record becomes on the trace level.
#include <algorithm>

#include "formats/otf2/event_stream.hpp"
#include "formats/otf2/fast_fields.hpp"

namespace fathom::otf2 {

namespace {

// Lengths beyond are no lengths.
constexpr std::uint64_t kLongest = std::uint64_t{1} << 60;
constexpr std::uint32_t kRootSelf = 0xFFFFFFFE;
constexpr std::uint32_t kRootInGroup = 0xFFFFFFFD;

std::uint64_t operation_key(std::uint32_t handle, std::uint64_t matching) {
  return matching ^ (std::uint64_t{handle} + 1) * 0xD6E8FEB86659FD93ULL;
}

// Tasks as numbers: what creates them, and the how-manieth it is.
std::int64_t task_number(std::uint32_t team, std::uint32_t thread, std::uint32_t generation) {
  if (generation == 0) return 0;
  return static_cast<std::int64_t>((std::uint64_t{team} + 1) % 0x7FFF << 48 | std::uint64_t{thread & 0xFFFF} << 32 |
                                   generation);
}

}  // namespace

std::int32_t Otf2Stream::peer(std::uint32_t comm, std::uint32_t rank) {
  if (rank == kUndefined32) return kUnknownPeer;
  if (comm == IdIndex::kNone) {
    // Without any communicator ranks can only be those of the whole run.
    if (!map_.has_comms && rank <= 0x7FFFFFFF) return static_cast<std::int32_t>(rank);
    ++bad_ranks_;
    return kUnknownPeer;
  }
  if (map_.comms[comm].self) return rank_;
  const Communicator& group = trace_.communicators()[comm];
  const std::vector<std::int32_t>* ranks = &group.ranks;
  if (!group.remote_ranks.empty() && std::find(ranks->begin(), ranks->end(), rank_) != ranks->end()) {
    ranks = &group.remote_ranks;
  }
  if (rank < ranks->size()) return (*ranks)[rank];
  ++bad_ranks_;
  return kUnknownPeer;
}

std::int32_t Otf2Stream::root(std::uint32_t comm, std::uint32_t rank) {
  if (rank == kUndefined32) return kNoPeer;
  if (rank == kRootSelf) return rank_;
  if (rank == kRootInGroup) return kUnknownPeer;
  return peer(comm, rank);
}

std::int64_t Otf2Stream::length(std::uint64_t bytes) {
  if (bytes < kLongest) return static_cast<std::int64_t>(bytes);
  ++bad_lengths_;
  return 0;
}

Otf2Stream::Outcome Otf2Stream::complete(PendingTable& table, std::uint64_t key, Event& event) {
  event.kind = EventKind::complete;
  event.name = current_region();
  if (const Pending* const begun = table.get(key)) {
    event.origin = begun->record;
    table.erase(key);
  }
  return Outcome::event;
}

template <bool little>
Otf2Stream::Outcome Otf2Stream::decode_message(std::uint8_t type, const std::byte* begin, const std::byte* end,
                                               Event& event) {
  FastFields<little> in(begin, end, limit_);
  event.name = current_region();
  switch (type) {
    case event::mpi_send:
    case event::mpi_isend:
    case event::mpi_recv:
    case event::mpi_irecv: {
      const std::uint32_t rank = in.c32(kUndefined32);
      const std::uint32_t comm = comms_(in.c32(kUndefined32));
      event.tag = static_cast<std::int32_t>(in.c32());
      event.bytes = length(in.c64());
      event.peer = peer(comm, rank);
      event.communicator = CommunicatorId(comm);
      event.origin = event.record;
      if (type == event::mpi_send || type == event::mpi_isend) {
        event.kind = EventKind::send;
        event.value = time_ns_;
        if (type == event::mpi_isend) requests_.put(in.c64(), {event.record, time_ns_});
        return in.ok() ? Outcome::event : Outcome::bad;
      }
      event.kind = EventKind::recv;
      event.value = entered_ns();
      if (type == event::mpi_irecv) {
        const std::uint64_t request = in.c64();
        if (const Pending* const posted = requests_.get(request)) {
          event.origin = posted->record;
          event.value = posted->time_ns;
          requests_.erase(request);
        }
      }
      return in.ok() ? Outcome::event : Outcome::bad;
    }
    case event::mpi_collective_begin:
    case event::rma_collective_begin:
      collective_ = event.record;
      return Outcome::nothing;
    case event::non_blocking_collective_request:
      requests_.put(in.c64(), {event.record, time_ns_});
      return in.ok() ? Outcome::nothing : Outcome::bad;
    default:
      break;
  }
  // The end of a collective, one of three kinds.
  event.kind = EventKind::collective;
  (void)in.u8();  // which operation: its region says so, too
  std::uint32_t comm = IdIndex::kNone;
  if (type == event::rma_collective_end) {
    (void)in.c32();
    const std::uint32_t window =
        trace_.archive().definitions.windows.position(local_.global(IdKind::rma_win, in.c32(kUndefined32)));
    if (window != IdIndex::kNone) comm = map_.window_comms[window];
  } else {
    comm = comms_(in.c32(kUndefined32));
  }
  event.communicator = CommunicatorId(comm);
  event.peer = root(comm, in.c32(kUndefined32));
  event.bytes = length(in.c64());
  event.value = length(in.c64());
  event.origin = std::exchange(collective_, Event::kNoRecord);
  if (type == event::non_blocking_collective_complete) {
    const std::uint64_t request = in.c64();
    if (const Pending* const begun = requests_.get(request)) {
      event.origin = begun->record;
      requests_.erase(request);
    }
  }
  return in.ok() ? Outcome::event : Outcome::bad;
}

template <bool little>
Otf2Stream::Outcome Otf2Stream::decode_thread(std::uint8_t type, const std::byte* begin, const std::byte* end,
                                              Event& event) {
  FastFields<little> in(begin, end, limit_);
  switch (type) {
    case event::thread_fork:
      (void)in.u8();
      event.value = in.c32();
      break;
    case event::thread_team_begin:
    case event::thread_team_end:
    case event::comm_create:
    case event::comm_destroy:
      event.communicator = CommunicatorId(comms_(in.c32(kUndefined32)));
      break;
    case event::thread_acquire_lock:
    case event::thread_release_lock:
      (void)in.u8();
      [[fallthrough]];
    case event::omp_acquire_lock:
    case event::omp_release_lock:
      event.value = in.c32();
      break;
    case event::thread_task_create:
    case event::thread_task_switch:
    case event::thread_task_complete: {
      const std::uint32_t team = comms_(in.c32(kUndefined32));
      const std::uint32_t thread = in.c32();
      event.communicator = CommunicatorId(team);
      event.value = task_number(team, thread, in.c32());
      if (!in.ok()) return Outcome::bad;
      if (type == event::thread_task_switch) switch_task(event.value);
      if (type == event::thread_task_complete) end_task(event.value);
      break;
    }
    case event::thread_create:
    case event::thread_begin:
    case event::thread_wait:
    case event::thread_end:
      event.communicator = CommunicatorId(comms_(in.c32(kUndefined32)));
      event.value = static_cast<std::int64_t>(in.c64());
      break;
    default:
      break;
  }
  return in.ok() ? Outcome::event : Outcome::bad;
}

template <bool little>
Otf2Stream::Outcome Otf2Stream::decode_one_sided(std::uint8_t type, const std::byte* begin, const std::byte* end,
                                                 Event& event) {
  FastFields<little> in(begin, end, limit_);
  if (type == event::rma_group_sync) (void)in.c32();
  const std::uint32_t window =
      trace_.archive().definitions.windows.position(local_.global(IdKind::rma_win, in.c32(kUndefined32)));
  const std::uint32_t comm = window == IdIndex::kNone ? IdIndex::kNone : map_.window_comms[window];
  event.communicator = CommunicatorId(comm);
  switch (type) {
    case event::rma_put:
    case event::rma_get:
    case event::rma_atomic: {
      event.peer = peer(comm, in.c32(kUndefined32));
      if (type == event::rma_atomic) (void)in.u8();
      event.bytes = length(in.c64());
      if (type == event::rma_atomic) event.value = length(in.c64());
      operations_.put(operation_key(window, in.c64()), {event.record, time_ns_});
      return in.ok() ? Outcome::event : Outcome::bad;
    }
    case event::rma_op_complete_blocking:
    case event::rma_op_complete_non_blocking:
    case event::rma_op_complete_remote: {
      const std::uint64_t matching = in.c64();
      return in.ok() ? complete(operations_, operation_key(window, matching), event) : Outcome::bad;
    }
    case event::rma_request_lock:
    case event::rma_acquire_lock:
    case event::rma_try_lock:
    case event::rma_release_lock:
      event.peer = peer(comm, in.c32(kUndefined32));
      event.value = static_cast<std::int64_t>(in.c64());
      break;
    case event::rma_sync:
      event.peer = peer(comm, in.c32(kUndefined32));
      break;
    case event::rma_group_sync: {
      const std::uint32_t set =
          trace_.archive().definitions.sets.position(local_.global(IdKind::group, in.c32(kUndefined32)));
      event.value = window == IdIndex::kNone ? -1 : static_cast<std::int64_t>(window);
      if (set != IdIndex::kNone && map_.set_comms[set] != IdIndex::kNone) event.origin = map_.set_comms[set];
      break;
    }
    default:
      break;
  }
  return in.ok() ? Outcome::event : Outcome::bad;
}

template <bool little>
Otf2Stream::Outcome Otf2Stream::decode_io(std::uint8_t type, const std::byte* begin, const std::byte* end,
                                          Event& event) {
  FastFields<little> in(begin, end, limit_);
  if (type == event::io_delete_file) return Outcome::event;
  const std::uint32_t handle =
      trace_.archive().definitions.handles.position(local_.global(IdKind::io_handle, in.c32(kUndefined32)));
  event.tag = handle == IdIndex::kNone ? -1 : static_cast<std::int32_t>(handle);
  switch (type) {
    case event::io_operation_begin: {
      const std::uint8_t mode = in.u8();
      if (mode == 0) event.name = map_.read_marker;
      if (mode == 1) event.name = map_.write_marker;
      (void)in.c32();
      event.bytes = length(in.c64());
      operations_.put(operation_key(handle, in.c64()), {event.record, time_ns_});
      break;
    }
    case event::io_operation_complete: {
      event.bytes = length(in.c64());
      const std::uint64_t matching = in.c64();
      return in.ok() ? complete(operations_, operation_key(handle, matching), event) : Outcome::bad;
    }
    case event::io_operation_cancelled: {
      const std::uint64_t matching = in.c64();
      return in.ok() ? complete(operations_, operation_key(handle, matching), event) : Outcome::bad;
    }
    case event::io_seek:
      event.value = static_cast<std::int64_t>(in.c64());
      break;
    default:
      break;
  }
  return in.ok() ? Outcome::event : Outcome::bad;
}

template <bool little>
bool Otf2Stream::decode_metric(const std::byte* begin, const std::byte* end, Event*& to, const Event* stop,
                               Event event) {
  FastFields<little> in(begin, end, limit_);
  const std::uint32_t use = metrics_(in.c32(kUndefined32));
  const unsigned count = in.u8();
  event.kind = EventKind::counter;
  for (unsigned i = 0; i < count; ++i) {
    const std::uint8_t type = in.u8();
    const std::uint64_t bits = in.c64();
    if (!in.ok()) return false;
    event.name = Event::kNoName;
    event.value = static_cast<std::int64_t>(bits);
    if (use != IdIndex::kNone && i < map_.metric_uses[use].metrics.size()) {
      event.name = map_.metric_uses[use].metrics[i];
      const bool real = event.name != Event::kNoName && map_.metric_is_double[event.name] != 0;
      if (real && type != kTypeDouble) {
        const double number =
            type == kTypeInt64 ? static_cast<double>(static_cast<std::int64_t>(bits)) : static_cast<double>(bits);
        event.value = std::bit_cast<std::int64_t>(number);
      } else if (!real && type == kTypeDouble && event.name != Event::kNoName) {
        const auto number = std::bit_cast<double>(bits);
        event.value = number > -9.2e18 && number < 9.2e18 ? static_cast<std::int64_t>(number) : 0;
      }
    }
    if (to != stop) {
      *to++ = event;
    } else {
      further_.push_back(event);
    }
  }
  return true;
}

template <bool little>
Otf2Stream::Outcome Otf2Stream::decode_record(std::uint8_t type, const std::byte* begin, const std::byte* end,
                                              Event& event) {
  if (type >= event::mpi_send && type <= event::mpi_irecv) return decode_message<little>(type, begin, end, event);
  event.name = map_.marker_of_type[type];
  if (type >= event::rma_win_create && type <= event::rma_op_complete_remote && type != event::rma_collective_begin &&
      type != event::rma_collective_end) {
    return decode_one_sided<little>(type, begin, end, event);
  }
  if (type >= event::thread_fork && type <= event::thread_end) return decode_thread<little>(type, begin, end, event);
  if (type >= event::io_create_handle && type <= event::io_try_lock) return decode_io<little>(type, begin, end, event);
  FastFields<little> in(begin, end, limit_);
  switch (type) {
    case event::mpi_collective_begin:
    case event::mpi_collective_end:
    case event::rma_collective_begin:
    case event::rma_collective_end:
    case event::non_blocking_collective_request:
    case event::non_blocking_collective_complete:
      return decode_message<little>(type, begin, end, event);
    case event::omp_acquire_lock:
    case event::omp_release_lock:
    case event::comm_create:
    case event::comm_destroy:
      return decode_thread<little>(type, begin, end, event);
    case event::calling_context_enter:
    case event::calling_context_leave:
    case event::calling_context_sample: {
      const std::uint32_t context = contexts_(in.c32(kUndefined32));
      if (!in.ok()) return Outcome::bad;
      const bool known = context != IdIndex::kNone;
      if (type == event::calling_context_sample) {
        event.kind = EventKind::sample;
        event.name = known ? map_.contexts[context].value : Event::kNoName;
        return Outcome::event;
      }
      event.name = known ? map_.context_regions[context] : Event::kNoName;
      event.kind = type == event::calling_context_enter ? EventKind::enter : EventKind::leave;
      if (event.kind == EventKind::enter) {
        stack_.push_back({event.name, time_ns_});
      } else {
        leave(event.name);
      }
      return Outcome::event;
    }
    case event::parameter_string:
    case event::parameter_int:
    case event::parameter_unsigned_int: {
      const std::uint32_t parameter =
          trace_.archive().definitions.parameters.position(local_.global(IdKind::parameter, in.c32(kUndefined32)));
      if (parameter != IdIndex::kNone) event.name = map_.parameter_markers[parameter];
      event.value = static_cast<std::int64_t>(in.c64());
      break;
    }
    case event::buffer_flush: {
      ClockCorrection correction = correction_;
      TickClock clock = clock_;
      const std::uint64_t ticks = in.u64();
      event.value = clock(correction.identity() ? ticks : correction(ticks));
      break;
    }
    case event::measurement_on_off:
      event.has_value = false;
      if (in.u8() == 1) event.name = map_.measurement_on_marker;
      break;
    case event::program_end:
      event.value = static_cast<std::int64_t>(in.c64());
      break;
    default:
      if (find_event_kind(type) != nullptr) break;
      if (unknown_++ == 0) unknown_type_ = type;
      event.name = map_.unknown_marker;
      event.value = type;
  }
  return in.ok() ? Outcome::event : Outcome::bad;
}

template Otf2Stream::Outcome Otf2Stream::decode_record<true>(std::uint8_t, const std::byte*, const std::byte*, Event&);
template Otf2Stream::Outcome Otf2Stream::decode_record<false>(std::uint8_t, const std::byte*, const std::byte*, Event&);
template bool Otf2Stream::decode_metric<true>(const std::byte*, const std::byte*, Event*&, const Event*, Event);
template bool Otf2Stream::decode_metric<false>(const std::byte*, const std::byte*, Event*&, const Event*, Event);

}  // namespace fathom::otf2
