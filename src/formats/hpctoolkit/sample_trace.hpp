// Samples of a database as the trace level: each names a context of the same tree as the profile.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>

#include "base/work.hpp"
#include "formats/hpctoolkit/mapping.hpp"
#include "trace/sample_records.hpp"
#include "trace/trace.hpp"

namespace fathom::hpctoolkit {

// Times of a file, which counts ticks, as nanoseconds.
class TickScale {
 public:
  TickScale() = default;  // ticks are nanoseconds
  // Times are counted from `origin`, before which there are no ticks.
  explicit TickScale(std::uint64_t per_second, std::uint64_t origin = 0)
      : per_second_(per_second),
        origin_(origin),
        whole_(kNanosecond % per_second == 0 ? kNanosecond / per_second : 0),
        plain_(per_second == kNanosecond && origin == 0) {}

  // Rounded down. What lies beyond the last time that there is becomes that one.
  [[nodiscard]] std::int64_t ns(std::uint64_t ticks) const {
    if (plain_) return static_cast<std::int64_t>(std::min(ticks, kLast));
    return static_cast<std::int64_t>(std::min<Wide>(exact(ticks), kLast));
  }
  [[nodiscard]] bool fits(std::uint64_t ticks) const { return exact(ticks) <= kLast; }

 private:
  __extension__ using Wide = unsigned __int128;
  static constexpr std::uint64_t kNanosecond = 1'000'000'000;
  static constexpr std::uint64_t kLast = std::numeric_limits<std::int64_t>::max();
  [[nodiscard]] Wide exact(std::uint64_t ticks) const {
    const Wide passed = ticks - origin_;
    return whole_ != 0 ? passed * whole_ : passed * kNanosecond / per_second_;
  }

  std::uint64_t per_second_ = kNanosecond;
  std::uint64_t origin_ = 0;
  std::uint64_t whole_ = 1;  // nanoseconds of a tick; 0 where they are not a whole number
  bool plain_ = true;
};

// A line of samples of one location, whatever file they come from. Most locations have one; lines of metrics come
// beside it.
struct SampleLine {
  const std::byte* at = nullptr;
  std::uint64_t count = 0;
  std::uint32_t stride = 12;
  Place place;
  LocationId location;
  MetricId metric;          // records are values of this metric; invalid: call paths
  bool metric_ids = false;  // behind the context a record has the id of a metric
};

// MT: every const method is safe.
class SampleTrace : public Trace, public SampleRecords {
 public:
  // `lines` in any order; `owner` keeps the bytes alive. `scale` is that of the times (classic traces). `told`: first
  // and last time, as the file says.
  SampleTrace(const Definitions& definitions, ContextIndex samples, std::vector<SampleLine> lines, Endian order,
              TickScale scale, std::shared_ptr<const void> owner, Work work,
              std::optional<TimeWindow> told = std::nullopt);

  [[nodiscard]] Result<std::unique_ptr<EventStream>> open(LocationId location, TimeWindow window) const override;
  Result<void> detail(const Event& event, std::string& out) const override;
  [[nodiscard]] std::optional<std::uint64_t> known_records(LocationId location) const override {
    std::uint64_t count = 0;
    for (const SampleLine& line : lines_[location.index()]) count += line.count;
    return count;
  }
  [[nodiscard]] std::optional<TimeWindow> known_span() const override;
  [[nodiscard]] std::optional<TimeWindow> location_span(LocationId location) const override;

  [[nodiscard]] bool in_time_order(LocationId location) const override;
  void believe_in_time_order(LocationId location) const override;
  std::size_t read_samples(LocationId location, std::uint64_t record, std::span<PlacedSample> out) const override;

  [[nodiscard]] std::int64_t time(const SampleLine& line, std::uint64_t index) const {
    return scale_.ns(load_unchecked<std::uint64_t>(line.at + index * line.stride, order_));
  }
  [[nodiscard]] std::uint32_t context(const SampleLine& line, std::uint64_t index) const {
    return load_unchecked<std::uint32_t>(line.at + index * line.stride + 8, order_);
  }
  [[nodiscard]] ContextId map(std::uint32_t file_id) const { return samples_.find(file_id); }
  // The line of a location in which the record lies, counted through all of them, and its number there.
  [[nodiscard]] std::pair<const SampleLine*, std::uint64_t> find(LocationId location, std::uint64_t record) const {
    for (const SampleLine& line : lines_[location.index()]) {
      if (record < line.count) return {&line, record};
      record -= line.count;
    }
    return {nullptr, 0};
  }

 private:
  // In which order the samples of a location are in time: found at the first use, as a rule the order in which they are
  // stored. The records of several lines are counted through, line after line.
  struct Order {
    std::once_flag once;
    std::vector<std::uint64_t> records;  // empty: as stored
    Budget::Reservation reserved;
    std::optional<Error> error;
  };
  Result<const Order*> order_of(LocationId location) const;
  Result<void> find_order(LocationId location, Order& order) const;
  [[nodiscard]] TimeWindow span_of_ends(const SampleLine& line) const;
  [[nodiscard]] TimeWindow span_of_all(const SampleLine& line) const;
  [[nodiscard]] Result<std::optional<TimeWindow>> find_span() const;

  ContextIndex samples_;
  std::vector<std::vector<SampleLine>> lines_;  // by location
  Endian order_;
  TickScale scale_;
  std::shared_ptr<const void> owner_;
  std::unique_ptr<Order[]> orders_;  // by location
  std::optional<TimeWindow> told_;
  mutable std::mutex span_mutex_;
  mutable std::optional<TimeWindow> span_;  // once it is known
};

}  // namespace fathom::hpctoolkit
