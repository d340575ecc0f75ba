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
Table wait_table(const analysis::Analysis& analysis, const WaitGrouping& by);

// One row for each location and activity on the path.
Table critical_path_table(const analysis::Analysis& analysis);

// One run of an efficiency table.
struct RunEfficiency {
  std::string name;
  std::uint64_t locations = 0;
  EfficiencyNumbers numbers;
  double useful_s = 0;  // of all locations
};
// Runs as rows, by number of locations; computation scalability relative to the first one, for a problem that stays
// the same (strong) or grows with the ranks (weak).
Table efficiency_table(std::vector<RunEfficiency> runs, bool weak);
// The same for threads, tasks and GPUs: additive efficiencies, then the factors of TALP. Empty = the trace does not
// tell.
struct RunThreads {
  std::string name;
  analysis::ThreadEfficiencies numbers;
};
Table thread_table(const std::vector<RunThreads>& runs);

// "load_balance": the factor that falls most from the first run to the last; empty for one run.
std::string falls_first(const Table& efficiencies);

}  // namespace fathom
