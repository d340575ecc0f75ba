// One location's events as a row of a timeline, read piece by piece so that whoever waits can look in between.
#pragma once

#include <algorithm>
#include <optional>

#include "trace/summary/block_tree.hpp"

namespace fathom::summary {

class RowReader {
 public:
  // What it holds comes out of the pool.
  static Result<RowReader> open(const Trace& trace, ChannelId channel, LocationId location,
                                std::shared_ptr<ArrayPool> pool);

  // Some thousand events more; false: that was all of them.
  Result<bool> read_some();
  // An error when what was made could not be kept.
  Result<BlockTree> finish();

  [[nodiscard]] const Contexts& met() const { return *met_; }
  [[nodiscard]] const BlockTreeBuilder& builder() const { return *builder_; }
  [[nodiscard]] std::uint64_t events() const { return events_; }
  // Of those that have a time; none has = none.
  [[nodiscard]] std::optional<std::int64_t> first_ns() const { return first_; }
  [[nodiscard]] std::int64_t last_ns() const { return last_; }
  // Its samples are in time order, so that the trace need not be asked again.
  [[nodiscard]] bool in_time_order() const { return samples_ != nullptr; }

 private:
  RowReader(const Trace& trace, ChannelId channel, LocationId location, std::shared_ptr<ArrayPool> pool);
  Result<bool> read_events();
  bool read_samples();
  void met_time(std::int64_t time_ns) {
    if (!first_) first_ = last_ = time_ns;
    last_ = std::max(last_, time_ns);
  }

  // The activity and the builder know where the contexts are: they stay there when the reader is moved.
  std::unique_ptr<Contexts> met_;
  std::unique_ptr<Activity> activity_;
  std::unique_ptr<BlockTreeBuilder> builder_;
  LocationId location_;
  const SampleRecords* samples_ = nullptr;  // where it is read from, instead of from a stream of events
  std::vector<PlacedSample> buffer_;
  std::optional<EventCursor> cursor_;
  std::optional<std::int64_t> first_;
  std::int64_t last_ = 0;
  std::uint64_t events_ = 0;
};

}  // namespace fathom::summary
