// The analysis of traces as tables.
#pragma once

#include "base/table.hpp"
#include "findings/finding.hpp"
#include "trace/analysis/analysis.hpp"
#include "trace/analysis/threads.hpp"

namespace fathom {

// By what waiting is summed up: any of kind, rank (the one that waits), culprit, call.
struct WaitGrouping {
  bool kind = false;
  bool rank = false;
  bool culprit = false;
  bool call = false;
};
// Rows by falling time; times in s, share of all time.
// In a team: the table is at the first process, the others leave (elsewhere()).
Result<Table> wait_table(const analysis::Analysis& analysis, const WaitGrouping& by);

// One row for each location and activity on the path.
Table critical_path_table(const analysis::Analysis& analysis);

// Efficiencies of runs: threads, tasks and GPUs: additive efficiencies, then the factors of TALP. Empty = the trace
// does not tell.
struct RunThreads {
  std::string name;
  analysis::ThreadEfficiencies numbers;
};
Table thread_table(const std::vector<RunThreads>& runs);

}  // namespace fathom
