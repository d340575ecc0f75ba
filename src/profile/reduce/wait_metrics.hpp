// Wait states, delay costs and the critical path as metrics of a reduced profile, under the names that Scalasca gives
// them: what the analysis found is charged to the contexts in which it happened.
#pragma once

#include <memory>
#include <string_view>

#include "trace/analysis/analysis.hpp"

namespace fathom::reduction {

inline constexpr std::uint32_t kNoMetric = 0xFFFFFFFF;

struct WaitMetric {
  // Where its values come from.
  enum class Source : std::uint8_t {
    time,     // the time of calls of this kind and of those below it
    charged,  // the analysis
    summed,   // the metrics below it
  };
  std::string_view name;
  std::string_view parent;  // empty = none; "time" = the profile's time
  std::string_view title;
  std::string_view description;
  Source source = Source::charged;
};

// Parents come before their parts.
std::span<const WaitMetric> wait_metrics();
// Number in wait_metrics(), of the parent too; kNoMetric = none.
std::uint32_t wait_metric(std::string_view name);
std::uint32_t parent_of(std::uint32_t metric);
// Whether `metric` is `whole` or a part of it.
bool is_part_of(std::uint32_t metric, std::uint32_t whole);
// The kind of call that a region's time counts for; kNoMetric = it is no call.
std::uint32_t time_metric(const Region& region);

// What is charged to the calls of one location.
struct LocationCharges {
  // Seconds of a metric to one call, or to what runs before it.
  struct Charge {
    double ns = 0;
    std::uint32_t call = 0;
    std::uint16_t metric = 0;
    bool outside = false;
  };
  // From a call on, and from the gap before it, every ns of an activity costs so much more of a metric.
  struct Change {
    double rate = 0;
    std::uint32_t call = 0;
    std::uint16_t metric = 0;
    analysis::Activity activity = analysis::Activity::compute;
    std::int8_t begins = 0;  // 1 = a range begins, -1 = it ends
    // Of computation: in this call path only (RunCalls::paths); kNoPath = in all.
    std::uint32_t path = analysis::PathTable::kNoPath;
  };
  LargeArray<Charge> charges;  // by call
  LargeArray<Change> changes;  // by call
  std::uint32_t location = analysis::kNone;
};

// Of a whole trace. MT: safe (const).
class WaitCharges {
 public:
  static Result<std::shared_ptr<const WaitCharges>> find(const Trace& trace, const Work& work);

  [[nodiscard]] const LocationCharges& of(LocationId location) const { return locations_[location.index()]; }
  [[nodiscard]] const analysis::Analysis& analysis() const { return *analysis_; }

 private:
  Result<void> collect();
  void take_waits(std::uint32_t location, LocationCharges& out) const;
  void take_delays();
  void take_path();

  std::unique_ptr<analysis::Analysis> analysis_;
  std::vector<LocationCharges> locations_;  // by location of the trace
};

// Goes with the calls of one location.
class ChargeCursor {
 public:
  ChargeCursor() = default;
  ChargeCursor(const WaitCharges& all, LocationId location);

  [[nodiscard]] bool active() const { return all_ != nullptr; }
  // What runs before call number `next` begins.
  void begin_gap(std::uint32_t next);
  // Calls `add(metric, ns)` for time that passes between two calls.
  template <class Add>
  void pass(std::uint64_t ns, const Add& add) const {
    for (const Rate& rate : rates_) {
      if (rate.activity == analysis::Activity::compute) add(rate.metric, rate.rate * static_cast<double>(ns));
    }
    if (open_.top() >= path_rates_.size()) return;
    for (const Rate& rate : path_rates_[open_.top()]) add(rate.metric, rate.rate * static_cast<double>(ns));
  }
  // A region of the program, outside of calls, begins or is over.
  void enter(std::uint32_t region);
  void leave(std::uint32_t region);
  // The call is over: `add(metric, ns, outside)`.
  template <class Add>
  void end_call(std::uint32_t call, const Add& add) {
    const auto& charges = charges_->charges;
    for (; charge_ < charges.size() && charges[charge_].call <= call; ++charge_) {
      if (charges[charge_].call == call) add(charges[charge_].metric, charges[charge_].ns, charges[charge_].outside);
    }
    if (rates_.empty()) return;
    const auto [activity, ns] = work_of(call);
    for (const Rate& rate : rates_) {
      if (rate.activity == activity) add(rate.metric, rate.rate * ns, false);
    }
  }

 private:
  struct Rate {
    double rate;
    std::uint32_t ranges;  // that are under way
    std::uint16_t metric;
    analysis::Activity activity;
  };
  // What a call does beside waiting.
  [[nodiscard]] std::pair<analysis::Activity, double> work_of(std::uint32_t call) const;

  const WaitCharges* all_ = nullptr;
  const LocationCharges* charges_ = nullptr;
  std::size_t charge_ = 0;
  std::size_t change_ = 0;
  std::vector<Rate> rates_;
  std::vector<std::vector<Rate>> path_rates_;  // by call path
  analysis::PathStack open_;
};

}  // namespace fathom::reduction
