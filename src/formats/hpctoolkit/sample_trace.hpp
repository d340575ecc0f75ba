// Samples of a database as the trace level: each names a context of the same tree as the profile.
#pragma once

#include <memory>

#include "base/work.hpp"
#include "formats/hpctoolkit/mapping.hpp"
#include "trace/trace.hpp"

namespace fathom::hpctoolkit {

// A line of samples of one location, whatever file they come from. Most locations have one; lines of metrics come
// beside it.
struct SampleLine {
  const std::byte* at = nullptr;
  std::uint64_t count = 0;
  std::uint32_t stride = 12;
  Place place;
  LocationId location;
  MetricId metric;  // records are values of this metric; invalid: call paths
};

// MT: every const method is safe.
class SampleTrace : public Trace {
 public:
  // `lines` in any order; `owner` keeps the bytes alive. `ns_per_tick` scales times (classic traces).
  SampleTrace(const Definitions& definitions, ContextIndex samples, std::vector<SampleLine> lines, Endian order,
              std::uint64_t ns_per_tick, std::shared_ptr<const void> owner, Work work);

  [[nodiscard]] Result<std::unique_ptr<EventStream>> open(LocationId location, TimeWindow window) const override;
  Result<void> detail(const Event& event, std::string& out) const override;
  [[nodiscard]] std::optional<std::uint64_t> known_records(LocationId location) const override {
    std::uint64_t count = 0;
    for (const SampleLine& line : lines_[location.index()]) count += line.count;
    return count;
  }
  [[nodiscard]] std::optional<TimeWindow> known_span() const override;

  [[nodiscard]] std::int64_t time(const SampleLine& line, std::uint64_t index) const {
    return static_cast<std::int64_t>(load_unchecked<std::uint64_t>(line.at + index * line.stride, order_) *
                                     ns_per_tick_);
  }
  [[nodiscard]] std::uint32_t context(const SampleLine& line, std::uint64_t index) const {
    return load_unchecked<std::uint32_t>(line.at + index * line.stride + 8, order_);
  }
  [[nodiscard]] ContextId map(std::uint32_t file_id) const { return samples_.find(file_id); }
  // Samples in ascending time: as a rule; a line that is not is sorted when it is opened.
  [[nodiscard]] bool sorted(const SampleLine& line) const;
  [[nodiscard]] const Work& work() const { return work_; }

 private:
  [[nodiscard]] Result<std::unique_ptr<EventStream>> open_merged(const std::vector<SampleLine>& lines,
                                                                 TimeWindow window) const;

  ContextIndex samples_;
  std::vector<std::vector<SampleLine>> lines_;  // by location
  Endian order_;
  std::uint64_t ns_per_tick_;
  std::shared_ptr<const void> owner_;
  Work work_;
};

}  // namespace fathom::hpctoolkit
