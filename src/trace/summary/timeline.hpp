// Block trees of all locations of a trace, and the names of their contexts: what a timeline is drawn from.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trace/summary/block_tree.hpp"

namespace fathom::summary {

// One row of a timeline before it is drawn: a location's activity, or one of its channels.
struct TimelineRow {
  Contexts contexts;                  // as the location met them
  std::vector<std::uint32_t> global;  // number in Timeline::contexts of each
  BlockTree tree;
};

// MT: safe (const).
class Timeline {
 public:
  // One pass over every location, in parallel. The result does not depend on the number of threads. Memory is counted
  // against the budget; `done` hears how many locations are ready.
  static Result<std::shared_ptr<const Timeline>> build(const Trace& trace, ChannelId channel, const Work& work,
                                                       const std::function<void(std::size_t)>& done = {});

  [[nodiscard]] const std::vector<TimelineRow>& rows() const { return rows_; }
  [[nodiscard]] const Contexts& contexts() const { return contexts_; }
  [[nodiscard]] const std::string& name(std::uint32_t context) const { return names_[context]; }
  [[nodiscard]] RegionId region(std::uint32_t context) const {
    const Step& step = contexts_[context].step;
    return step.kind == StepKind::region ? RegionId(static_cast<std::size_t>(step.id)) : RegionId();
  }
  [[nodiscard]] std::int64_t begin_ns() const { return begin_ns_; }
  [[nodiscard]] std::int64_t end_ns() const { return end_ns_; }
  [[nodiscard]] std::uint64_t transitions() const;
  [[nodiscard]] std::uint64_t bytes() const;

 private:
  void unite(const Trace& trace, ChannelId channel);

  std::vector<TimelineRow> rows_;
  Contexts contexts_;
  std::vector<std::string> names_;
  std::int64_t begin_ns_ = 0;
  std::int64_t end_ns_ = 0;
  std::vector<Budget::Reservation> memory_;
};

// A tile of the wire format: what rows [first, first + count) did in bins of 2^k ns.
struct TileRequest {
  std::vector<std::uint32_t> rows;
  std::int64_t first_ns = 0;  // since the beginning of the timeline
  unsigned k = 0;             // a bin has 2^k ns
  std::size_t bins = 512;
  std::uint32_t depth = 255;  // 255 = innermost
  bool exact = true;
};
// "FTL1" as docs/viewer.md has it.
std::string encode_tile(const Timeline& timeline, const TileRequest& request);

}  // namespace fathom::summary
