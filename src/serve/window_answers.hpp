// Questions about a window of a trace: what its functions took, how that changes over time, how long calls are, its
// messages, counters, waits and collectives.
#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include "serve/timeline_answers.hpp"
#include "trace/statistics.hpp"
#include "trace/summary/counter_store.hpp"
#include "trace/summary/message_store.hpp"

namespace fathom::analysis {
struct Analysis;
}

namespace fathom::serve {

// MT: internally synchronised.
class WindowAnswers {
 public:
  // The statistics of the dataset, as `stats` gives them: one at a time.
  using Statistics = std::function<Result<TraceStatistics>(const StatisticsOptions&)>;
  WindowAnswers(TimelineAnswers& timeline, Statistics statistics);
  ~WindowAnswers();

  // t0, t1 (ns since the beginning; none: everything), rows, channel; quick=1: times from the index alone, with a
  // bound; otherwise exactly as `stats --clip`.
  Result<Answer> window(const Request& request);
  // t0, t1, rows, bins, channel, depth, top: per bin the share of the functions that take most, of all rows together.
  Result<Answer> shares(const Request& request);
  // t0, t1, rows, channel: own time of every row in every function.
  Result<Answer> row_times(const Request& request);
  // t0, t1, rows, name, from, to (ns), most: how long the calls of a function are.
  Result<Answer> durations(const Request& request);
  // t0, t1, rows, most, from, to (ranks): messages one by one, or bundles of them.
  Result<Answer> messages(const Request& request);
  // t0, t1, most: who sends to whom, as `stats` has it, with the mean time on the way.
  Result<Answer> matrix(const Request& request);
  // t0, t1, bins, metric, rows: the least, the most, the mean and the last value of each bin; no metric: which there
  // are.
  Result<Answer> counters(const Request& request);
  // t0, t1, bins, rows ("0-3,g2"), what (duration, bytes, waiting, counter), metric, channel: a value per row and bin.
  Result<Answer> heat(const Request& request);
  // t0, t1, most: what calls wait for, longest first.
  Result<Answer> waits(const Request& request);
  // t0, t1, most: collectives from the first that comes to the last that leaves.
  Result<Answer> collectives(const Request& request);

 private:
  struct Window {
    std::int64_t from_ns;
    std::int64_t to_ns;
    bool all;  // nothing was given
  };
  Result<Window> window_of(const Request& request, const summary::Timeline& timeline) const;
  Result<std::shared_ptr<const summary::MessageStore>> message_store();
  Result<std::shared_ptr<const summary::CounterStore>> counter_store();
  Result<analysis::Analysis*> analysis();

  TimelineAnswers& timeline_;
  Statistics statistics_;
  std::mutex mutex_;
  std::shared_ptr<const summary::MessageStore> messages_;
  std::shared_ptr<const summary::CounterStore> counters_;
  std::unique_ptr<analysis::Analysis> analysis_;
};

}  // namespace fathom::serve
