// Questions about a trace: what its rows are, tiles of the timeline, what happened at a moment.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "serve/request.hpp"
#include "trace/summary/timeline.hpp"
#include "trace/trace.hpp"

namespace fathom::serve {

// MT: internally synchronised; tiles are answered in parallel once their index is there.
class TimelineAnswers {
 public:
  TimelineAnswers(std::shared_ptr<const Trace> trace, Work work) : trace_(std::move(trace)), work_(std::move(work)) {}

  // channel=N (none: activity): clock, span, contexts, rows, channels. Makes the index when it is not there yet.
  Result<Answer> timeline(const Request& request);
  // channel, r (block of kTileRows rows), k, i (bin of kTileBins << k ns), depth, quick: a tile in the wire format.
  Result<Answer> tile(const Request& request);
  // channel, row, t (ns since the beginning): what is open there, from the outermost in, with all native arguments.
  Result<Answer> at(const Request& request);

  static constexpr std::size_t kTileRows = 64;
  static constexpr std::size_t kTileBins = 512;

 private:
  using Index = std::shared_ptr<const summary::Timeline>;
  Result<Index> index(const Request& request);

  std::shared_ptr<const Trace> trace_;
  Work work_;
  std::mutex mutex_;
  std::map<std::int64_t, Index> made_;  // by channel; -1 = activity
};

}  // namespace fathom::serve
