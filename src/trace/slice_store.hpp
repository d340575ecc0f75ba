// Slices ("from here to there it did this") and points of time of many rows, in any order as files have them, made into
// what locations need: in time order, nested, every slice with its end. Arrays that outgrow the memory are in temporary
// files, so that a file of any size can be taken in.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/work.hpp"
#include "io/large_array.hpp"
#include "trace/event.hpp"

namespace fathom {

struct StoredSlice {
  static constexpr std::int64_t kOpen = INT64_MAX;  // end of a slice that never ends
  static constexpr std::uint64_t kNoRecord = (std::uint64_t{1} << 48) - 1;

  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::uint64_t record : 48 = kNoRecord;
  std::uint64_t depth : 16 = 0;
  std::uint32_t region = 0;
  std::uint32_t row = 0;
};
static_assert(sizeof(StoredSlice) == 32);

// One line of time: what a location will be.
struct StoredRow {
  std::span<const StoredSlice> slices;  // by begin, outer ones first
  std::span<const Event> points;        // by time
  std::uint32_t of = 0;                 // the row it was given as
  std::uint32_t lane = 0;               // > 0: what does not fit into that row because it overlaps
};

// What an event is to something that flows from event to event.
enum class FlowPart : std::uint8_t {
  begin,   // it comes from here
  step,    // it arrives, and goes on from here
  end,     // it arrives, and nothing of that id goes on
  arrive,  // it arrives, and may arrive elsewhere from where it came
};
// The two forms of Chrome's events, which Perfetto's old ones have as well: phases s, t and f, and slices that say
// whether something flows into them, out of them, or both.
constexpr FlowPart flow_part(char phase) {
  return phase == 's' ? FlowPart::begin : phase == 't' ? FlowPart::step : FlowPart::end;
}
constexpr FlowPart flow_part(bool in, bool out) {
  return !in ? FlowPart::begin : out ? FlowPart::step : FlowPart::arrive;
}

class SliceStore {
 public:
  explicit SliceStore(const Work& work);

  // Rows are numbered by the caller, without large gaps. `record` tells the order of what has equal times.
  void slice(std::uint32_t row, std::int64_t begin_ns, std::int64_t end_ns, std::uint32_t region, std::uint64_t record);
  // Begin and end are paired by the stack of the row; an end with a region closes down to it, without (Event::kNoName)
  // the innermost one.
  void begin(std::uint32_t row, std::int64_t time_ns, std::uint32_t region, std::uint64_t record);
  void end(std::uint32_t row, std::int64_t time_ns, std::uint32_t region, std::uint64_t record);
  // The same where a row has many things under way at once, each with its own nesting and told apart by its key. What
  // begins in one row may end in another: it belongs to the first.
  void begin_floating(std::uint32_t row, std::uint64_t key, std::int64_t time_ns, std::uint32_t region,
                      std::uint64_t record);
  void end_floating(std::uint32_t row, std::uint64_t key, std::int64_t time_ns, std::uint32_t region,
                    std::uint64_t record);
  // An event of any kind but enter and leave; its location is the row.
  void point(std::uint32_t row, Event event);
  // A point that something with an id flows through. In the order of time its origin becomes the record of where the
  // same id comes from.
  void flow(std::uint32_t row, Event event, std::uint64_t id, FlowPart part);
  // The same for the last point that was given, which many may leave and one reach, and for a slice, which they leave.
  void flow_of_last_point(std::uint64_t id, FlowPart part);
  void flow_of_slice(std::int64_t time_ns, std::uint64_t record, std::uint64_t id);

  // Of all rows, until they are arranged.
  [[nodiscard]] std::span<Event> points() { return {points_.data(), points_.size()}; }

  // Sorts, pairs and lays what overlaps beside each other. What was noticed goes to the diagnostics under `place`.
  Result<void> arrange(std::uint32_t rows, const Place& place);
  // After that: all rows that were given, in order, then those that were needed beside them.
  [[nodiscard]] const std::vector<StoredRow>& rows() const { return rows_; }

  // How often something was as it should not be.
  struct Defects {
    std::uint64_t overlapping = 0;     // slices that are on a lane of their own
    std::uint64_t closed_early = 0;    // ended with something around them
    std::uint64_t unmatched_ends = 0;  // nothing was open
    std::uint64_t unfinished = 0;
  };
  [[nodiscard]] const Defects& defects() const { return defects_; }
  [[nodiscard]] std::uint64_t slices() const { return slice_count_; }
  [[nodiscard]] std::uint64_t point_count() const { return points_.size(); }
  // Whether any marker comes from something.
  [[nodiscard]] bool has_arrows() const { return has_arrows_; }

 private:
  struct Floating {
    std::int64_t time_ns;
    std::uint64_t key;
    std::uint64_t record : 63;
    std::uint64_t is_end : 1;
    std::uint32_t region;
    std::uint32_t row;
  };
  struct Flow {
    std::int64_t time_ns;
    std::uint64_t id;
    std::uint64_t at : 61;  // a point, or the record of a slice
    std::uint64_t is_slice : 1;
    std::uint64_t part : 2;
    [[nodiscard]] bool is(FlowPart wanted) const { return part == static_cast<std::uint64_t>(wanted); }
  };
  class Arranger;

  void join_flows();
  Result<void> arrange_rows(std::uint32_t rows);
  void arrange_floating(std::uint32_t rows);
  void gather_floating();
  Result<void> note(const Place& place) const;

  Work work_;
  std::unique_ptr<ArrayPool> pool_;
  LargeArray<StoredSlice> slices_;  // as given, then by row
  LargeArray<StoredSlice> lanes_;   // what is beside the rows
  LargeArray<StoredSlice> floated_;
  LargeArray<Event> points_;
  LargeArray<Floating> floating_;
  LargeArray<Flow> flows_;
  std::vector<StoredRow> rows_;
  Defects defects_;
  std::uint64_t slice_count_ = 0;
  bool has_arrows_ = false;
};

}  // namespace fathom
