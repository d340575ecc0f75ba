// All locations of a trace as one stream in time order.
#pragma once

#include "trace/trace.hpp"

namespace fathom {

// A loser tree over one cursor per location: one comparison per level and event. Events of equal time come in the
// order of their locations; an event without a time takes that of the event before it.
class MergedEvents {
 public:
  // `locations` empty = all.
  static Result<MergedEvents> over(const Trace& trace, std::span<const LocationId> locations = {},
                                   TimeWindow window = {});

  // Null at the end or after an error.
  const Event* next() { return inputs_.size() == 1 ? inputs_[0].cursor.next() : next_of_several(); }
  [[nodiscard]] Result<void> status() const {
    if (error_) return *error_;
    return inputs_.size() == 1 ? inputs_[0].cursor.status() : Result<void>{};
  }

 private:
  struct Input {
    EventCursor cursor;
    const Event* head = nullptr;
    std::int64_t time = std::numeric_limits<std::int64_t>::min();
  };
  explicit MergedEvents(std::vector<Input> inputs);
  const Event* next_of_several();
  bool advance(std::size_t input);  // false = its stream failed
  [[nodiscard]] bool before(std::size_t a, std::size_t b) const;
  void replay(std::size_t input);

  std::vector<Input> inputs_;
  std::vector<std::size_t> losers_;  // inner nodes 1..n-1; [0] = the winner
  bool started_ = false;
  std::optional<Error> error_;
};

}  // namespace fathom
