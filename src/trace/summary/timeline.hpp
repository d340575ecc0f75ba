// Block trees of all locations of a trace, and the names of their contexts: what a timeline is drawn from. It is made
// in the background; whoever asks meanwhile gets what is there.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "trace/summary/index_file.hpp"
#include "trace/summary/row_reader.hpp"

namespace fathom::summary {

using ContextNodes = std::shared_ptr<const std::vector<Contexts::Node>>;

// The one around it at `depth`, or itself where it is not as deep.
inline std::uint32_t at_depth(const std::vector<Contexts::Node>& nodes, std::uint32_t context, std::uint32_t depth) {
  return Contexts::at_depth(nodes, context, depth);
}

struct TimelineProgress {
  enum class State : std::uint8_t { building, ready, cancelled, failed };
  State state = State::building;
  std::size_t rows = 0;
  std::size_t ready = 0;
  std::uint64_t events = 0;
  std::uint64_t transitions = 0;
  std::uint64_t bytes = 0;  // of the index, so far
  double seconds = 0;       // that it took, or takes until now
  bool stored = false;      // it came from a file
  unsigned version = 0;     // of the numbers of contexts: when it changes, those known are worth nothing
  std::optional<Error> error;
};

// MT: safe.
class Timeline {
 public:
  // Begins at once on a thread of its own, with the threads of this execution. The trace must outlive it.
  static std::shared_ptr<Timeline> start(const Trace& trace, ChannelId channel, const Work& work,
                                         IndexPlace place = {});
  // The same, and waits until all is there.
  static Result<std::shared_ptr<Timeline>> build(const Trace& trace, ChannelId channel, const Work& work,
                                                 IndexPlace place = {});
  ~Timeline();
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  // Waits for the end of the work, at most so long; true = it is over.
  bool wait(std::optional<std::chrono::milliseconds> most = {});
  void cancel() { *cancel_ = true; }
  [[nodiscard]] TimelineProgress progress() const;

  [[nodiscard]] std::size_t row_count() const { return trace_.location_count(); }
  // Null = nothing is known of it yet.
  [[nodiscard]] RowPtr row(std::size_t location) const;
  // The contexts that occur so far, parents first; numbers stay until the version changes.
  [[nodiscard]] std::pair<ContextNodes, unsigned> contexts() const;
  [[nodiscard]] std::string name(const Contexts::Node& node) const;
  [[nodiscard]] RegionId region(const Contexts::Node& node) const {
    return node.step.kind == StepKind::region ? RegionId(static_cast<std::size_t>(node.step.id)) : RegionId();
  }
  [[nodiscard]] std::int64_t begin_ns() const { return begin_ns_; }
  // Known from the beginning, or as far as locations are read.
  [[nodiscard]] std::int64_t end_ns() const;

 private:
  Timeline(const Trace& trace, ChannelId channel, Work work, IndexPlace place);
  void run(unsigned threads);
  Result<void> make();
  Result<void> find_begin();
  bool load();
  Result<void> read_row(std::size_t location);
  void publish(std::size_t location, const RowReader& reader, BlockTree tree, bool whole);
  void number_in_order();
  void keep();

  const Trace& trace_;
  ChannelId channel_;
  Work work_;
  IndexPlace place_;
  std::shared_ptr<std::atomic<bool>> cancel_ = std::make_shared<std::atomic<bool>>(false);
  std::shared_ptr<ArrayPool> pool_;
  Budget::Reservation reserved_;
  std::int64_t begin_ns_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<RowPtr> rows_;
  Contexts contexts_;
  mutable ContextNodes nodes_;  // a copy for readers, made when they ask
  TimelineProgress progress_;
  std::int64_t end_ns_ = 0;
  std::chrono::steady_clock::time_point started_;
  std::atomic<std::uint64_t> events_{0};
  std::atomic<bool> begun_{false};
  std::optional<std::thread> thread_;
};

// A tile of the wire format: what rows did in bins of 2^k ns.
struct TileRequest {
  // Locations of each row; of several the row is the sum.
  std::vector<std::vector<std::uint32_t>> rows;
  std::int64_t first_ns = 0;  // since the beginning of the timeline
  unsigned k = 0;             // a bin has 2^k ns
  std::size_t bins = 512;
  std::uint32_t depth = 255;  // 255 = innermost
  bool exact = true;
  // Rows are levels of the call stack from `depth` on, of the one location in rows[0]; what is less deep is left out.
  std::size_t lanes = 0;
  // Only what lies in this region; its share is exact however little it is.
  RegionId focus;
  // The same for one call path: only what lies in this context.
  std::uint32_t focus_context = kNothing;
};
// "FTL1" as docs/viewer.md has it.
std::string encode_tile(const Timeline& timeline, const TileRequest& request);

}  // namespace fathom::summary
