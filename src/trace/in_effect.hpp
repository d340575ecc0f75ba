// What is in effect at a moment of a location: open regions of each of its tasks, values of channels and counters, the
// last sample.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "trace/event.hpp"
#include "trace/open_names.hpp"

namespace fathom {

class InEffect {
 public:
  // `meanings` of the trace's markers must outlive it; without them there are no tasks.
  explicit InEffect(std::span<const MarkerMeaning> meanings = {}) : meanings_(meanings) {}

  // The next event of the location.
  void take(const Event& event);
  // What a window that begins here starts with, marked as carried: the enters of open regions from the outermost in,
  // then channels and counters by their numbers, then the last sample. Where tasks have regions open or one runs,
  // these come task after task, each behind the task_switch to it (the location's own stack needs none in front), and
  // the one that runs comes last.
  [[nodiscard]] std::vector<Event> carried() const;
  [[nodiscard]] std::uint64_t bytes() const {
    std::size_t events = open_.capacity() + channels_.capacity() + counters_.capacity();
    for (const auto& [number, task] : suspended_) events += task.open.capacity() + 2;
    return events * sizeof(Event) + sizeof *this;
  }

 private:
  struct Task {
    std::vector<Event> open;
    Event begun;  // the switch to it
  };
  static void set(std::vector<Event>& list, const Event& event);
  void take_marker(const Event& event);
  void switch_to(std::int64_t task, const Event& event);
  void forget_from(std::size_t depth);

  std::span<const MarkerMeaning> meanings_;
  std::vector<Event> open_;                 // of the task that runs
  OpenNames names_;                         // of all that is open, in any task
  std::map<std::int64_t, Task> suspended_;  // those that have something open
  Event begun_;                             // the switch to the one that runs
  std::int64_t task_ = 0;
  std::vector<Event> channels_;  // by number
  std::vector<Event> counters_;
  Event sample_;
  bool sampled_ = false;
};

}  // namespace fathom
