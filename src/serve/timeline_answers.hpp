// Questions about a trace: what its rows are, how far its index is, tiles of the timeline, what happened at a moment.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>

#include "serve/index_place.hpp"
#include "serve/request.hpp"
#include "trace/summary/timeline.hpp"
#include "trace/trace.hpp"

namespace fathom::serve {

// MT: internally synchronised; tiles are answered in parallel from what is there of their index.
class TimelineAnswers {
 public:
  TimelineAnswers(std::shared_ptr<const Trace> trace, Work work, std::filesystem::path path, IndexOptions options)
      : trace_(std::move(trace)), work_(std::move(work)), path_(std::move(path)), options_(std::move(options)) {}

  // channel=N (none: activity): clock, span, contexts, rows, groups of rows, channels. Begins to make the index when it
  // is not there yet; `wait` ms are given to it first, -1 = as long as it takes.
  Result<Answer> timeline(const Request& request);
  // channel, cancel=1, restart=1: how far the index is.
  Result<Answer> progress(const Request& request);
  // channel, r (block of kTileRows rows) or rows ("0-3,7,g2": gN = all below node N of the system), k, i (bin of
  // kTileBins << k ns), depth, focus (region), context, lanes, quick: a tile in the wire format.
  Result<Answer> tile(const Request& request);
  // channel, row, t (ns since the beginning): what is open there, from the outermost in, with all native arguments.
  Result<Answer> at(const Request& request);
  // channel, row, t, back=1, region=N, context=N: the moment of the next change, or of the next that enters a region
  // or a context.
  Result<Answer> next(const Request& request);

  static constexpr std::size_t kTileRows = 64;
  static constexpr std::size_t kTileBins = 512;

  using Index = std::shared_ptr<summary::Timeline>;
  Result<Index> index(const Request& request);
  // What a list of rows names, each row its locations.
  Result<std::vector<std::vector<std::uint32_t>>> rows_of(std::string_view text) const;
  // The same as one list without doubles; nothing given: all.
  Result<std::vector<std::uint32_t>> locations_of(std::string_view text) const;
  [[nodiscard]] const Trace& trace() const { return *trace_; }
  [[nodiscard]] const Work& work() const { return work_; }

 private:
  std::shared_ptr<const Trace> trace_;
  Work work_;
  std::filesystem::path path_;
  IndexOptions options_;
  std::mutex mutex_;
  std::map<std::int64_t, Index> made_;  // by channel; -1 = activity
};

}  // namespace fathom::serve
