// What is in effect at a moment of a location: open regions, values of channels and counters, the last sample.
#pragma once

#include <vector>

#include "trace/event.hpp"

namespace fathom {

class InEffect {
 public:
  // The next event of the location.
  void take(const Event& event);
  // What a window that begins here starts with, marked as carried: the enters of open regions from the outermost in,
  // then channels and counters by their numbers, then the last sample.
  [[nodiscard]] std::vector<Event> carried() const;
  [[nodiscard]] std::uint64_t bytes() const {
    return (open_.capacity() + channels_.capacity() + counters_.capacity()) * sizeof(Event) + sizeof *this;
  }

 private:
  static void set(std::vector<Event>& list, const Event& event);
  std::vector<Event> open_;
  std::vector<Event> channels_;  // by number
  std::vector<Event> counters_;
  Event sample_;
  bool sampled_ = false;
};

}  // namespace fathom
