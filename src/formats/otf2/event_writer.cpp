#ifdef FATHOM_HAS_OTF2

#include "formats/otf2/event_writer.hpp"

#include <algorithm>
#include <bit>

#include "base/capped_sum.hpp"
#include "formats/otf2/mpi_names.hpp"

namespace fathom::otf2 {

namespace {

constexpr std::size_t kMostHeld = 64;
constexpr std::uint32_t kUndefined = 0xFFFFFFFF;

// Order does not matter and equal messages count as often as they occur.
std::uint64_t message_hash(std::int64_t from, std::int64_t to, std::uint32_t comm, std::int32_t tag,
                           std::int64_t bytes) {
  std::uint64_t hash = 0x9E3779B97F4A7C15ULL;
  for (const std::uint64_t part :
       {static_cast<std::uint64_t>(from), static_cast<std::uint64_t>(to), std::uint64_t{comm},
        static_cast<std::uint64_t>(tag), static_cast<std::uint64_t>(bytes)}) {
    hash = (hash ^ part) * 0xBF58476D1CE4E5B9ULL;
    hash ^= hash >> 29;
  }
  return hash;
}

}  // namespace

WriterIds::WriterIds(const Trace& trace) {
  for (const Region& region : trace.definitions().regions) {
    facts.push_back(
        {collective_operation(region.name), is_nonblocking_send(region.name), is_nonblocking_receive(region.name)});
  }
  facts.emplace_back();
  unknown_region = static_cast<std::uint32_t>(trace.definitions().regions.size());
  regions = unknown_region + 1;
  first_channel_metric = static_cast<std::uint32_t>(trace.definitions().metrics.size());
  const auto channels = trace.channels();
  states.resize(channels.size());
  other_state.assign(channels.size(), kUndefined);
  for (const ChannelId channel : activity_channels(trace)) {
    for (const auto& [value, name] : channels[channel.index()].values)
      states[channel.index()].emplace(value, regions++);
    other_state[channel.index()] = regions++;
  }
  for (const Channel& channel : channels) {
    const std::int64_t lowest = channel.values.empty() ? 0 : std::min<std::int64_t>(0, channel.values.begin()->first);
    no_value.push_back(lowest - 1);
  }
}

EventWriter::EventWriter(const Trace& trace, const WriterPlan& plan, const WriterIds& ids, LocationId location,
                         OTF2_EvtWriter* out, std::int64_t zero_ns, std::int64_t start_ns)
    : trace_(trace),
      plan_(plan),
      ids_(ids),
      location_(location),
      out_(out),
      zero_ns_(zero_ns),
      now_ns_(start_ns),
      rank_(plan.rank_of_location[location.index()]),
      open_states_(ids.states.size(), kUndefined) {}

void EventWriter::check(OTF2_ErrorCode code) {
  if (code != OTF2_SUCCESS && !failed_) failed_ = code;
}

Result<WrittenLocation> EventWriter::write() {
  FATHOM_TRY(auto stream, trace_.open(location_, {}));
  EventCursor cursor(std::move(stream), 1024);
  while (const Event* event = cursor.next()) {
    take(*event);
    if (failed_) break;
  }
  FATHOM_CHECK(cursor.status());
  flush_held(false);
  check(OTF2_EvtWriter_GetNumberOfEvents(out_, &made_.events));
  if (failed_) return Error(std::string("the OTF2 library: ") + OTF2_Error_GetDescription(*failed_));
  return made_;
}

std::uint64_t EventWriter::time_of(const Event& event) {
  if (!event.has_time) {
    ++made_.timeless;
  } else if (made_.any && event.time_ns < now_ns_) {
    ++made_.backwards;
  } else {
    now_ns_ = event.time_ns;
  }
  if (!made_.any) made_.first_ns = now_ns_;
  made_.any = true;
  made_.last_ns = now_ns_;
  return since(zero_ns_, now_ns_);
}

std::uint32_t EventWriter::region_of(std::uint32_t name) const {
  return name < ids_.unknown_region ? name : ids_.unknown_region;
}
std::uint32_t EventWriter::comm_of(const Event& event) const {
  if (plan_.rank_locations.empty()) return OTF2_UNDEFINED_COMM;
  return event.communicator.valid() && event.communicator.index() < trace_.communicators().size()
             ? event.communicator.value
             : plan_.world;
}
std::uint32_t EventWriter::rank_in(std::uint32_t comm, std::int32_t rank) {
  if (rank < 0) return kUndefined;
  const std::uint32_t found = static_cast<std::size_t>(rank) < plan_.rank_locations.size()
                                  ? plan_.comms[comm].rank_in(rank, rank_)
                                  : kUndefined;
  if (found == kUndefined) ++made_.lost_peers;
  return found;
}

// A collective is begun where its call is entered, which shows only later: its events wait that long.
void EventWriter::take(const Event& event) {
  if (held_.empty()) {
    const bool may_be_collective = event.kind == EventKind::enter && facts_of(event.name).operation;
    if (may_be_collective) {
      held_.push_back(event);
    } else {
      write_event(event);
    }
    return;
  }
  if (event.kind == EventKind::collective && event.name == held_.front().name) {
    flush_held(true);
    write_event(event);
    return;
  }
  const bool over = event.kind == EventKind::leave || event.kind == EventKind::enter || held_.size() == kMostHeld;
  if (over) {
    flush_held(false);
    take(event);
    return;
  }
  held_.push_back(event);
}

void EventWriter::flush_held(bool with_begin) {
  if (held_.empty()) return;
  const std::vector<Event> held = std::move(held_);
  held_.clear();
  for (std::size_t i = 0; i < held.size(); ++i) {
    write_event(held[i]);
    if (i == 0 && with_begin) {
      check(OTF2_EvtWriter_MpiCollectiveBegin(out_, nullptr, since(zero_ns_, now_ns_)));
      begun_collective_ = true;
    }
  }
}

void EventWriter::write_event(const Event& event) {
  switch (event.kind) {
    case EventKind::enter:
      made_.resumed += event.resumed ? 1 : 0;
      made_.cpu_times += trace_.has_cpu_time() && event.has_value ? 1 : 0;
      return write_region(event);
    case EventKind::leave:
      return write_region(event);
    case EventKind::sample: {
      const bool known = event.name < trace_.definitions().contexts.size();
      return check(OTF2_EvtWriter_CallingContextSample(out_, nullptr, time_of(event),
                                                       known ? event.name : OTF2_UNDEFINED_CALLING_CONTEXT,
                                                       OTF2_UNDEFINED_UINT32, 0));
    }
    case EventKind::send:
      return write_send(event);
    case EventKind::recv:
      return write_receive(event);
    case EventKind::collective:
      return write_collective(event);
    case EventKind::complete:
      return write_complete(event);
    case EventKind::state:
      return write_state(event);
    case EventKind::counter:
      return write_counter(event);
    case EventKind::marker:
      return write_marker(event);
  }
}

void EventWriter::write_region(const Event& event) {
  const std::uint64_t time = time_of(event);
  const std::uint32_t region = region_of(event.name);
  if (event.kind == EventKind::leave) return check(OTF2_EvtWriter_Leave(out_, nullptr, time, region));
  check(OTF2_EvtWriter_Enter(out_, nullptr, time, region));
  // The record of the call that posts a receive is what its completion refers to.
  if (event.record != Event::kNoRecord && facts_of(event.name).receives_later) {
    check(OTF2_EvtWriter_MpiIrecvRequest(out_, nullptr, time, event.record));
    begun_[event.record] = {Begun::receive, 0};
  }
}

void EventWriter::write_send(const Event& event) {
  const std::uint64_t time = time_of(event);
  const std::uint32_t comm = comm_of(event);
  const std::uint32_t receiver = rank_in(comm, event.peer);
  made_.null_peers += event.peer == kNoPeer ? 1 : 0;
  const auto tag = static_cast<std::uint32_t>(event.tag);
  const auto bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(event.bytes, 0));
  made_.sends += message_hash(rank_, event.peer, comm, event.tag, event.bytes);
  if (event.record != Event::kNoRecord && facts_of(event.name).sends_later) {
    begun_[event.record] = {Begun::send, 0};
    return check(OTF2_EvtWriter_MpiIsend(out_, nullptr, time, receiver, comm, tag, bytes, event.record));
  }
  check(OTF2_EvtWriter_MpiSend(out_, nullptr, time, receiver, comm, tag, bytes));
}

void EventWriter::write_receive(const Event& event) {
  const std::uint64_t time = time_of(event);
  const std::uint32_t comm = comm_of(event);
  const std::uint32_t sender = rank_in(comm, event.peer);
  made_.null_peers += event.peer == kNoPeer ? 1 : 0;
  const auto tag = static_cast<std::uint32_t>(event.tag);
  const auto bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(event.bytes, 0));
  made_.receives += message_hash(event.peer, rank_, comm, event.tag, event.bytes);
  const auto posted = event.origin == event.record ? begun_.end() : begun_.find(event.origin);
  if (posted != begun_.end() && posted->second.kind == Begun::receive) {
    begun_.erase(posted);
    return check(OTF2_EvtWriter_MpiIrecv(out_, nullptr, time, sender, comm, tag, bytes, event.origin));
  }
  check(OTF2_EvtWriter_MpiRecv(out_, nullptr, time, sender, comm, tag, bytes));
}

void EventWriter::write_collective(const Event& event) {
  const std::uint64_t time = time_of(event);
  const std::uint32_t comm = comm_of(event);
  auto operation = facts_of(event.name).operation;
  if (!operation) {
    ++made_.unknown_operations;
    operation = event.bytes == 0 && event.value == 0 ? OTF2_COLLECTIVE_OP_BARRIER : OTF2_COLLECTIVE_OP_ALLTOALLV;
  }
  if (!std::exchange(begun_collective_, false)) check(OTF2_EvtWriter_MpiCollectiveBegin(out_, nullptr, time));
  check(OTF2_EvtWriter_MpiCollectiveEnd(out_, nullptr, time, *operation, comm, rank_in(comm, event.peer),
                                        static_cast<std::uint64_t>(std::max<std::int64_t>(event.bytes, 0)),
                                        static_cast<std::uint64_t>(std::max<std::int64_t>(event.value, 0))));
}

void EventWriter::write_complete(const Event& event) {
  const std::uint64_t time = time_of(event);
  const auto found = begun_.find(event.origin);
  if (found == begun_.end()) return check(OTF2_EvtWriter_MpiIsendComplete(out_, nullptr, time, event.origin));
  const Operation begun = found->second;
  begun_.erase(found);
  switch (begun.kind) {
    case Begun::send:
      return check(OTF2_EvtWriter_MpiIsendComplete(out_, nullptr, time, event.origin));
    case Begun::receive:
      return check(OTF2_EvtWriter_MpiRequestCancelled(out_, nullptr, time, event.origin));
    case Begun::one_sided:
      return check(OTF2_EvtWriter_RmaOpCompleteBlocking(out_, nullptr, time, begun.handle, event.origin));
    case Begun::io:
      return check(OTF2_EvtWriter_IoOperationComplete(
          out_, nullptr, time, begun.handle, static_cast<std::uint64_t>(std::max<std::int64_t>(event.bytes, 0)),
          event.origin));
  }
}

void EventWriter::metric(std::uint32_t number, OTF2_Type type, OTF2_MetricValue value, std::uint64_t time) {
  check(OTF2_EvtWriter_Metric(out_, nullptr, time, number, 1, &type, &value));
}

// What a location does becomes regions; any other channel a metric.
void EventWriter::write_state(const Event& event) {
  const std::uint64_t time = time_of(event);
  if (event.name >= ids_.states.size()) {
    ++made_.nameless;
    return;
  }
  if (ids_.other_state[event.name] == kUndefined) {
    OTF2_MetricValue value;
    value.signed_int = event.has_value ? event.value : ids_.no_value[event.name];
    return metric(ids_.first_channel_metric + event.name, OTF2_TYPE_INT64, value, time);
  }
  std::uint32_t& open = open_states_[event.name];
  if (open != kUndefined) check(OTF2_EvtWriter_Leave(out_, nullptr, time, open));
  open = kUndefined;
  if (!event.has_value) return;
  const auto named = ids_.states[event.name].find(event.value);
  open = named != ids_.states[event.name].end() ? named->second : ids_.other_state[event.name];
  check(OTF2_EvtWriter_Enter(out_, nullptr, time, open));
}

void EventWriter::write_counter(const Event& event) {
  const std::uint64_t time = time_of(event);
  const auto& metrics = trace_.definitions().metrics;
  if (event.name >= metrics.size()) {
    ++made_.nameless;
    return;
  }
  const ValueType& type = metrics[event.name].type;
  OTF2_MetricValue value;
  if (type.is_double()) {
    value.floating_point = std::bit_cast<double>(event.value);
    return metric(event.name, OTF2_TYPE_DOUBLE, value, time);
  }
  value.signed_int = event.value;
  metric(event.name, type.is_unsigned() ? OTF2_TYPE_UINT64 : OTF2_TYPE_INT64, value, time);
}

// A record of its own where OTF2 has one for what the marker means, else a parameter.
void EventWriter::write_marker(const Event& event) {
  const std::uint64_t time = time_of(event);
  const MarkerMeaning meaning = trace_.meaning(event);
  if (write_one_sided(event, meaning, time) || write_io(event, meaning, time) || write_thread(event, meaning, time)) {
    return;
  }
  if (event.name >= trace_.markers().size()) {
    ++made_.nameless;
    return;
  }
  if (event.peer != kNoPeer || event.bytes != 0 || event.tag != 0 || event.communicator.valid() ||
      event.origin != Event::kNoRecord) {
    ++made_.details;
  }
  check(OTF2_EvtWriter_ParameterInt(out_, nullptr, time, event.name, event.value));
}

bool EventWriter::write_one_sided(const Event& event, MarkerMeaning meaning, std::uint64_t time) {
  if (plan_.rank_locations.empty()) return false;
  const auto bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(event.bytes, 0));
  const std::uint32_t comm = comm_of(event);  // a window for each
  const auto lock = static_cast<std::uint64_t>(event.value);
  const bool remote_lock = event.communicator.valid() && event.peer != kNoPeer;  // otherwise it is one of threads
  switch (meaning) {
    case MarkerMeaning::put:
    case MarkerMeaning::get:
      begun_[event.record] = {Begun::one_sided, comm};
      check((meaning == MarkerMeaning::put ? OTF2_EvtWriter_RmaPut : OTF2_EvtWriter_RmaGet)(
          out_, nullptr, time, comm, rank_in(comm, event.peer), bytes, event.record));
      return true;
    case MarkerMeaning::update:
      begun_[event.record] = {Begun::one_sided, comm};
      check(OTF2_EvtWriter_RmaAtomic(out_, nullptr, time, comm, rank_in(comm, event.peer),
                                     OTF2_RMA_ATOMIC_TYPE_ACCUMULATE, bytes,
                                     static_cast<std::uint64_t>(std::max<std::int64_t>(event.value, 0)), event.record));
      return true;
    case MarkerMeaning::lock:
      if (!remote_lock) return false;
      check(OTF2_EvtWriter_RmaAcquireLock(out_, nullptr, time, comm, rank_in(comm, event.peer), lock,
                                          OTF2_LOCK_EXCLUSIVE));
      return true;
    case MarkerMeaning::unlock:
      if (!remote_lock) return false;
      check(OTF2_EvtWriter_RmaReleaseLock(out_, nullptr, time, comm, rank_in(comm, event.peer), lock));
      return true;
    default:
      return false;
  }
}

bool EventWriter::write_io(const Event& event, MarkerMeaning meaning, std::uint64_t time) {
  if (event.tag < 0 || static_cast<std::size_t>(event.tag) >= trace_.handles().size()) return false;
  const auto handle = static_cast<std::uint32_t>(event.tag);
  switch (meaning) {
    case MarkerMeaning::read:
    case MarkerMeaning::write:
      begun_[event.record] = {Begun::io, handle};
      check(OTF2_EvtWriter_IoOperationBegin(
          out_, nullptr, time, handle,
          meaning == MarkerMeaning::read ? OTF2_IO_OPERATION_MODE_READ : OTF2_IO_OPERATION_MODE_WRITE,
          OTF2_IO_OPERATION_FLAG_NONE, static_cast<std::uint64_t>(std::max<std::int64_t>(event.bytes, 0)),
          event.record));
      return true;
    case MarkerMeaning::open:
      check(OTF2_EvtWriter_IoCreateHandle(out_, nullptr, time, handle, OTF2_IO_ACCESS_MODE_READ_WRITE,
                                          OTF2_IO_CREATION_FLAG_NONE, OTF2_IO_STATUS_FLAG_NONE));
      return true;
    case MarkerMeaning::close:
      check(OTF2_EvtWriter_IoDestroyHandle(out_, nullptr, time, handle));
      return true;
    default:
      return false;
  }
}

// Locks, tasks, forks, and where nothing was recorded.
bool EventWriter::write_thread(const Event& event, MarkerMeaning meaning, std::uint64_t time) {
  const auto value = static_cast<std::uint64_t>(event.value);
  const auto number = static_cast<std::uint32_t>(value);
  const bool small = number == value;
  // Tasks are numbered as the reader does: who created it and the how-manieth it is.
  const std::uint32_t creator = value >> 32 & 0xFFFF;
  switch (meaning) {
    case MarkerMeaning::lock:
    case MarkerMeaning::unlock:
      if (!small) return false;
      check((meaning == MarkerMeaning::lock ? OTF2_EvtWriter_ThreadAcquireLock : OTF2_EvtWriter_ThreadReleaseLock)(
          out_, nullptr, time, OTF2_PARADIGM_UNKNOWN, number, 0));
      return true;
    case MarkerMeaning::task_create:
      check(OTF2_EvtWriter_ThreadTaskCreate(out_, nullptr, time, comm_of(event), creator, number));
      return true;
    case MarkerMeaning::task_switch:
      check(OTF2_EvtWriter_ThreadTaskSwitch(out_, nullptr, time, comm_of(event), creator, number));
      return true;
    case MarkerMeaning::task_end:
      check(OTF2_EvtWriter_ThreadTaskComplete(out_, nullptr, time, comm_of(event), creator, number));
      return true;
    case MarkerMeaning::fork:
      if (!small) return false;
      check(OTF2_EvtWriter_ThreadFork(out_, nullptr, time, OTF2_PARADIGM_UNKNOWN, number));
      return true;
    case MarkerMeaning::join:
      check(OTF2_EvtWriter_ThreadJoin(out_, nullptr, time, OTF2_PARADIGM_UNKNOWN));
      return true;
    case MarkerMeaning::gap_begin:
      if (event.has_value) {
        const auto end = since(zero_ns_, std::max(event.value, now_ns_));
        check(OTF2_EvtWriter_BufferFlush(out_, nullptr, time, end));
      } else {
        check(OTF2_EvtWriter_MeasurementOnOff(out_, nullptr, time, OTF2_MEASUREMENT_OFF));
      }
      return true;
    case MarkerMeaning::gap_end:
      check(OTF2_EvtWriter_MeasurementOnOff(out_, nullptr, time, OTF2_MEASUREMENT_ON));
      return true;
    default:
      return false;
  }
}

}  // namespace fathom::otf2

#endif
