// Windows of streams that can only be read from the start: now and then the stream is kept as it stands, together with
// what is in effect there, so that a window begins at the nearest such place. The places are kept in memory and grow
// with what was asked for: the first window costs the way to it, later ones what is in them.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/work.hpp"
#include "trace/in_effect.hpp"
#include "trace/trace.hpp"

namespace fathom {

// A stream that can be kept as it stands.
class CopyableStream : public EventStream {
 public:
  [[nodiscard]] virtual std::unique_ptr<CopyableStream> copy() const = 0;
  // Memory of one such copy, roughly.
  [[nodiscard]] virtual std::uint64_t bytes() const = 0;
};

// One per location. MT: internally synchronised.
class WindowIndex {
 public:
  using Fresh = std::function<std::unique_ptr<CopyableStream>()>;
  // A stream over the window as Trace::open() promises it; `fresh` makes one over everything. `meanings` of the trace's
  // markers tell of tasks, which have stacks of their own (see InEffect).
  Result<std::unique_ptr<EventStream>> open(TimeWindow window, const Fresh& fresh, const Work& work,
                                            std::span<const MarkerMeaning> meanings = {});

 private:
  struct Place {
    std::int64_t latest = 0;  // time of all events before it
    std::unique_ptr<CopyableStream> stream;
    InEffect effect;
    Budget::Reservation reserved;
  };
  // Reads on from the last place until an event at or after `time` is met, and keeps further places.
  Result<void> extend(std::int64_t time, const Fresh& fresh, const Work& work, std::span<const MarkerMeaning> meanings);
  [[nodiscard]] const Place* nearest(std::int64_t time) const;

  std::mutex mutex_;
  std::vector<Place> places_;  // by time
  bool complete_ = false;      // the end of the stream was seen
  std::int64_t reached_ = std::numeric_limits<std::int64_t>::min();
};

}  // namespace fathom
