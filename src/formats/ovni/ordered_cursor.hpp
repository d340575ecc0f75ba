// The events of a stream by clock, where the file has them out of order: events that come late, as those of the kernel
// do, wait for nobody, all others wait in a window until no late one can come before them. Ties stay in file order.
#pragma once

#include <queue>

#include "formats/ovni/stream.hpp"

namespace fathom::ovni {

// How many places the latest of all late events is behind the one where it belongs: 0 for a stream in order. Looks
// back as far as `window` events; when that is not enough, the whole stream (its number of events) is the answer.
std::uint64_t find_lateness(const Stream& stream, std::size_t window);

class OrderedCursor {
 public:
  OrderedCursor(const Stream& stream, std::uint64_t lateness) : cursor_(stream), lateness_(lateness) {}

  bool next(Event& event) {
    if (lateness_ == 0) return cursor_.next(event);
    while (waiting_.size() <= lateness_ && cursor_.next(event)) {
      waiting_.push({static_cast<std::int64_t>(event.clock()), event});
    }
    if (waiting_.empty()) return false;
    event = waiting_.top().event;
    waiting_.pop();
    return true;
  }

  struct Waiting {
    std::int64_t clock;
    Event event;
    // The largest comes first out of the queue: here, the earliest.
    friend bool operator<(const Waiting& a, const Waiting& b) {
      return a.clock != b.clock ? a.clock > b.clock : a.event.at > b.event.at;
    }
  };

 private:
  StreamCursor cursor_;
  std::uint64_t lateness_;
  std::priority_queue<Waiting> waiting_;
};

}  // namespace fathom::ovni
