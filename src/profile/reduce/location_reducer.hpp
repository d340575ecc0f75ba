// The events of one location into a tree of contexts with sums.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "profile/reduce/location_tree.hpp"
#include "profile/reduce/reduce.hpp"
#include "profile/reduce/wait_metrics.hpp"
#include "trace/open_names.hpp"

namespace fathom::reduction {

// What is the same for all locations.
struct Rules {
  Rules(const Trace& trace, const ReduceOptions& options);

  const Trace& trace;
  MessageSplit split;
  std::vector<ChannelId> channels;      // what tells what a location does; empty = regions and samples
  std::vector<std::int32_t> level;      // by channel: its place in `channels`, -1 = none of them
  std::vector<std::uint8_t> is_call;    // by region: a library's call, which something else has made
  std::vector<std::uint8_t> is_double;  // by metric, those of wait_metrics() behind those of the trace
  // With wait states: what is charged, and by region the metric that its time counts for.
  std::shared_ptr<const WaitCharges> charges;
  std::vector<std::uint32_t> time_metric;
  [[nodiscard]] std::uint32_t first_wait_metric() const {
    return static_cast<std::uint32_t>(trace.definitions().metrics.size());
  }
};

// What was noticed.
struct Remarks {
  std::uint64_t unmatched_leaves = 0;  // of regions that were not open
  std::uint64_t crossed_leaves = 0;    // regions that had to be closed with one around them
  std::uint64_t late = 0;              // events before the one before them
  std::uint64_t open_at_end = 0;       // regions
  void add(const Remarks& other);
};

// Which metrics there is something to say about.
struct Told {
  bool visits = false;
  bool cpu_time = false;
  bool sent = false;
  bool received = false;
  bool messages_sent = false;
  bool messages_received = false;
  bool samples = false;
  std::vector<std::uint8_t> counters;  // by metric
  void add(const Told& other);
};

class LocationReducer {
 public:
  // `begin`: where time starts to be counted; nothing = at the first event. `from_start`: the location begins there,
  // too.
  LocationReducer(const Rules& rules, LocationId location, std::optional<std::int64_t> begin, bool from_start);

  void take(std::span<const Event> events);
  // Ends the part that is under way at `end` (nothing = at the last event) and begins the next one with what is open.
  LocationTree finish_part(std::optional<std::int64_t> end);

  [[nodiscard]] std::uint64_t bytes() const { return tree_.bytes() + stack_.capacity() * sizeof(Frame); }
  [[nodiscard]] const Remarks& remarks() const { return remarks_; }
  [[nodiscard]] const Told& told() const { return told_; }
  [[nodiscard]] std::size_t open_regions() const;

 private:
  struct Frame {
    std::uint32_t node = kNoNode;
    std::uint32_t region = Event::kNoName;
    // While a call is open it is not known what it is split by: these go there when it is left.
    Step split = kUnsplit;
    std::uint64_t time_ns = 0;
    std::uint64_t cpu_ns = 0;
    bool visit = false;
    std::uint32_t call = kNoNode;  // its number in the analysis; kNoNode = it has none
  };
  static constexpr Step kUnsplit = ~Step{0};

  // kAll = false: for what most reductions are, by regions and samples alone, without channels, splits, charges and
  // places that do not compute. Nothing is asked then that has one answer.
  template <bool kAll>
  void take_one(const Event& event);
  void take_plain(std::span<const Event> events);
  void take_any(std::span<const Event> events);
  template <bool kAll>
  void advance(std::int64_t time);
  template <bool kAll>
  std::uint32_t current();
  std::uint32_t compute();
  template <bool kAll>
  void enter(const Event& event);
  template <bool kAll>
  void leave(const Event& event);
  template <bool kAll>
  void leave_region(const Event& event);
  template <bool kAll>
  void close_top();
  void marker(const Event& event);
  // Every task has a stack of its own; that of the location itself is task 0.
  void switch_task(std::int64_t task);
  template <bool kAll>
  void cpu_reading(const Event& event);
  void state(const Event& event);
  void counter(const Event& event);
  template <bool kAll>
  void message(const Event& event);
  // The context below `node` that a message belongs to.
  std::uint32_t split_node(const Event& event, std::uint32_t node);
  void rebuild_state_node();
  std::uint32_t frame_node(std::uint32_t region);
  // Calls are counted as the analysis counts them.
  [[nodiscard]] bool is_charged_call(std::uint32_t region) const {
    return region < rules_.time_metric.size() && rules_.time_metric[region] != kNoMetric;
  }
  std::uint32_t number_of_call(const Event& event);
  void charge(std::uint32_t node, std::uint32_t metric, double ns);
  void end_charged_call(const Frame& frame, std::uint32_t node, std::uint32_t around);

  const Rules& rules_;
  // Of the rules, what every event asks for.
  bool by_channels_;
  bool reads_cpu_;
  bool splits_;
  bool computes_;  // outside of all regions; a place of counters does not
  LocationTree tree_;
  std::vector<Frame> stack_;  // of the task that runs
  OpenNames open_;            // regions of all frames, also of tasks that do not run
  std::int64_t task_ = 0;
  std::map<std::int64_t, std::vector<Frame>> suspended_;  // stacks of the others that have something open
  bool started_ = false;
  bool from_start_ = true;
  std::int64_t last_ = 0;
  std::uint32_t charged_ = kNoNode;  // what the last stretch of time went to
  std::uint32_t compute_ = kNoNode;
  std::vector<std::uint32_t> outermost_;  // by region: its node where nothing is around it
  std::uint32_t sample_ = kNoNode;
  Step sample_step_ = 0;
  std::uint32_t state_node_ = kNoNode;
  std::vector<std::optional<std::int64_t>> values_;  // of rules_.channels
  std::optional<std::int64_t> cpu_;                  // last reading
  struct Reading {
    bool known = false;
    std::int64_t value = 0;
    std::uint64_t frame = 0;
  };
  std::vector<Reading> readings_;   // by metric
  std::uint64_t frame_number_ = 0;  // changes with every enter and leave
  ChargeCursor cursor_;
  std::uint32_t call_depth_ = 0;
  bool call_counts_ = false;  // the one that is open has a number
  std::uint32_t calls_ = 0;
  Remarks remarks_;
  Told told_;
};

}  // namespace fathom::reduction
