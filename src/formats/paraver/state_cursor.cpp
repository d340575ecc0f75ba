#include "formats/paraver/state_cursor.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace fathom::paraver {

namespace {

constexpr std::pair<std::int64_t, std::string_view> kNames[] = {
    {0, "Idle"},
    {1, "Running"},
    {2, "Not created"},
    {3, "Waiting a message"},
    {4, "Blocking Send"},
    {5, "Synchronization"},
    {6, "Test/Probe"},
    {7, "Scheduling and Fork/Join"},
    {8, "Wait/WaitAll"},
    {9, "Blocked"},
    {10, "Immediate Send"},
    {11, "Immediate Receive"},
    {12, "I/O"},
    {13, "Group Communication"},
    {14, "Tracing Disabled"},
    {15, "Others"},
    {16, "Send Receive"},
};

// By the first entry that the name has; the order matters: Sendrecv before Send, Irecv before Recv.
struct Rule {
  std::string_view part;
  State state;
};
constexpr Rule kMpiRules[] = {
    {"MPI_File", State::io},
    {"MPI_Sendrecv", State::send_receive},
    {"MPI_Isend", State::immediate_send},
    {"MPI_Ibsend", State::immediate_send},
    {"MPI_Issend", State::immediate_send},
    {"MPI_Irsend", State::immediate_send},
    {"MPI_Irecv", State::immediate_receive},
    {"MPI_Imrecv", State::immediate_receive},
    {"MPI_Send", State::blocking_send},
    {"MPI_Bsend", State::blocking_send},
    {"MPI_Ssend", State::blocking_send},
    {"MPI_Rsend", State::blocking_send},
    {"MPI_Recv", State::waiting_message},
    {"MPI_Mrecv", State::waiting_message},
    {"MPI_Wait", State::wait_all},
    {"MPI_Test", State::test_probe},
    {"MPI_Probe", State::test_probe},
    {"MPI_Iprobe", State::test_probe},
    {"MPI_Mprobe", State::test_probe},
    {"MPI_Improbe", State::test_probe},
    {"MPI_Barrier", State::synchronisation},
    {"MPI_Win_fence", State::synchronisation},
    {"MPI_Bcast", State::group_communication},
    {"MPI_Reduce", State::group_communication},
    {"MPI_Allreduce", State::group_communication},
    {"MPI_Scan", State::group_communication},
    {"MPI_Exscan", State::group_communication},
    {"MPI_Gather", State::group_communication},
    {"MPI_Scatter", State::group_communication},
    {"MPI_Allgather", State::group_communication},
    {"MPI_Alltoall", State::group_communication},
    {"MPI_", State::others},
};

}  // namespace

std::span<const std::pair<std::int64_t, std::string_view>> state_names() { return kNames; }

RegionStates::RegionStates(const Definitions& definitions) {
  for (const Region& region : definitions.regions) {
    if (region.role == "thread") outside = State::idle;
    State state = State::running;
    for (const Rule& rule : kMpiRules) {
      if (!region.name.starts_with(rule.part)) continue;
      state = rule.state;
      break;
    }
    inside.push_back(state);
  }
}

State StateCursor::state_after(const Event& event) {
  switch (event.kind) {
    case EventKind::enter: {
      // Inside a region that runs inside an MPI call (a callback) it is still that call.
      const State own = event.name < states_.inside.size() ? states_.inside[event.name] : State::running;
      open_.push_back(own != State::running || open_.empty() ? own : open_.back());
      break;
    }
    case EventKind::leave:
      if (!open_.empty()) open_.pop_back();
      break;
    case EventKind::sample:
      return event.name == Event::kNoName ? State::idle : State::running;
    default:
      return state_;
  }
  return open_.empty() ? states_.outside : open_.back();
}

bool StateCursor::next(StateInterval& interval) {
  while (const Event* event = cursor_.next()) {
    if (event->has_time) last_ns_ = event->time_ns;
    if (!started_) {
      if (!event->has_time) continue;
      started_ = true;
      since_ns_ = last_ns_;
    }
    const State after = state_after(*event);
    if (after == state_) continue;
    interval = {since_ns_, last_ns_, state_};
    state_ = after;
    since_ns_ = last_ns_;
    if (interval.end_ns > interval.begin_ns) return true;
  }
  if (!started_ || last_ns_ <= since_ns_) return false;
  interval = {since_ns_, last_ns_, state_};
  since_ns_ = last_ns_;
  return true;
}

}  // namespace fathom::paraver
