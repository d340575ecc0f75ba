// The events of a location as viewers of slices want them: what nests stays nested, values of channels and samples
// become slices too, everything else is a point. What viewers cannot show is counted.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "trace/arrows.hpp"
#include "trace/trace.hpp"

namespace fathom {

// What was not as it should be, or has no place in such a view.
struct SliceViewNotes {
  std::uint64_t slices = 0;
  std::uint64_t unmatched_leaves = 0;
  std::uint64_t closed_early = 0;  // regions left open inside of one that was left
  std::uint64_t timeless = 0;      // events without a time: those of the event before
  std::uint64_t before_time = 0;   // events without a time in front of all that have one, which are left out
  std::uint64_t resumed = 0;       // regions that go on behind the end of one they cross: one slice more
  std::uint64_t cpu_times = 0;     // of regions, at their begin, which are left out
  std::uint64_t completions = 0;   // ends of operations, which are left out
  std::uint64_t arrows = 0;        // markers that are written without what they come from
  std::uint64_t unfinished = 0;
  Result<void> report(Diagnostics& diagnostics, const Place& place) const;
};

// Rows of a location: 0 is the location itself, 1 + c its channel c.
class SliceSink {
 public:
  virtual ~SliceSink() = default;
  virtual void begin(std::uint32_t row, std::int64_t time_ns, std::string_view name, const Event& event) = 0;
  virtual void end(std::uint32_t row, std::int64_t time_ns, std::string_view name) = 0;
  // marker, collective
  virtual void instant(std::int64_t time_ns, std::string_view name, const Event& event) = 0;
  virtual void counter(std::int64_t time_ns, const Event& event) = 0;
  // An end of a message; both ends have the same number, which no other message has.
  virtual void message(std::int64_t time_ns, const Event& event, std::uint64_t flow) = 0;
};

// Hands over one location after the other; messages are numbered over all of them. MT: externally synchronised.
class SliceView {
 public:
  explicit SliceView(const Trace& trace) : trace_(trace) {}
  // For who can write them; the others have them counted.
  Result<void> find_arrows(const Work& work);
  ArrowEnds arrows_at(const Event& event) { return arrows_ ? arrows_->at(event) : ArrowEnds{}; }
  Result<void> write(LocationId location, TimeWindow window, SliceSink& sink);
  [[nodiscard]] const SliceViewNotes& notes() const { return notes_; }

 private:
  class Location;
  using Ends =
      std::tuple<std::int32_t, std::int32_t, std::int32_t, std::uint32_t>;  // sender, receiver, tag, communicator
  Result<std::vector<std::uint64_t>> number_messages(LocationId location, TimeWindow window, std::int32_t own_rank);

  const Trace& trace_;
  SliceViewNotes notes_;
  std::unique_ptr<Arrows> arrows_;
  struct Counts {
    std::uint64_t sent = 0, received = 0;
  };
  std::map<Ends, Counts> counts_;
};

// How viewers number and name a location: processes by rank + 1 where they have one, for 0 is the idle task to them.
struct ViewRow {
  std::int64_t pid = 0;
  std::int64_t tid = 0;  // within its process, from 1
  std::string process_name;
  std::string thread_name;
  bool first_of_process = false;
};
std::vector<ViewRow> view_rows(const Trace& trace);

// Whether a marker has more than a name.
bool tells_more(const Trace& trace, const Event& marker);

// The first moment of a trace and its last one; nothing when it has no events with times.
Result<std::optional<TimeWindow>> span_of(const Trace& trace);

}  // namespace fathom
