// The states of a location, one after another: Paraver wants the whole interval when it begins, so a stream of its own
// is read ahead to where it ends. Nothing but the one state is kept.
#pragma once

#include <span>

#include "trace/trace.hpp"

namespace fathom::paraver {

// Paraver's numbers for what a thread does.
enum class State : std::uint8_t {
  idle = 0,
  running = 1,
  waiting_message = 3,
  blocking_send = 4,
  synchronisation = 5,
  test_probe = 6,
  scheduling = 7,
  wait_all = 8,
  immediate_send = 10,
  immediate_receive = 11,
  io = 12,
  group_communication = 13,
  others = 15,
  send_receive = 16,
};
std::span<const std::pair<std::int64_t, std::string_view>> state_names();

// What a location does inside each region (MPI calls by their names, everything else runs), and outside of all: where
// the trace says when a thread executes, it is idle then, otherwise it runs code that was not recorded.
struct RegionStates {
  std::vector<State> inside;
  State outside = State::running;

  explicit RegionStates(const Definitions& definitions);
};

struct StateInterval {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  State state = State::idle;
};

class StateCursor {
 public:
  // `states` must outlive the cursor.
  StateCursor(std::unique_ptr<EventStream> stream, const RegionStates& states)
      : cursor_(std::move(stream)), states_(states), state_(states.outside) {}

  // False at the end, or after an error (see status()).
  bool next(StateInterval& interval);
  [[nodiscard]] Result<void> status() const { return cursor_.status(); }

 private:
  [[nodiscard]] State state_after(const Event& event);

  EventCursor cursor_;
  const RegionStates& states_;
  std::vector<State> open_;  // what it is in each open region, innermost last
  State state_;
  std::int64_t since_ns_ = 0;
  std::int64_t last_ns_ = 0;
  bool started_ = false;
};

}  // namespace fathom::paraver
