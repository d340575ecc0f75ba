// Arrows of a trace (Trace::has_arrows) for those who write it: which begin at an event and which ends there.
#pragma once

#include "io/large_array.hpp"
#include "trace/trace.hpp"

namespace fathom {

// The ends of arrows at one event. Arrows are numbered from 1.
struct ArrowEnds {
  std::uint64_t arriving = 0;  // 0 = none
  std::uint64_t first_leaving = 0;
  std::uint64_t leaving = 0;  // how many, numbered one after the other
  [[nodiscard]] bool any() const { return arriving != 0 || leaving != 0; }
};

// What it keeps are the beginnings, in temporary files where they outgrow the memory. MT: externally synchronised.
class Arrows {
 public:
  explicit Arrows(const Work& work);
  // Reads the trace twice, if it has any.
  Result<void> find(const Trace& trace);
  // To be asked once for every enter and marker, in any order.
  ArrowEnds at(const Event& event);
  // Those whose beginning is not in the trace.
  [[nodiscard]] std::uint64_t without_beginning() const { return without_beginning_; }

 private:
  enum class Leaves : std::uint32_t { nowhere, enter, marker };
  struct Tail {
    std::uint64_t record;
    std::uint64_t first;    // number of its first arrow
    std::uint64_t arrived;  // how many of them have an end so far
    Leaves from;            // which of the events with that record they leave; nowhere = done or not there
    std::uint32_t found;    // there is such an event
  };
  Tail* tail_of(std::uint64_t record);
  Result<void> gather(const Trace& trace);
  void look_for_tail(const Event& event);

  ArrayPool pool_;
  LargeArray<Tail> tails_;  // by record; the last one is none
  std::uint64_t without_beginning_ = 0;
};

}  // namespace fathom
