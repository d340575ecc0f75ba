// Everything that can be said about the parallel run behind a trace. See docs/findings.md for what the words mean.
#pragma once

#include "trace/analysis/critical_path.hpp"
#include "trace/analysis/delays.hpp"
#include "trace/analysis/efficiencies.hpp"
#include "trace/analysis/iterations.hpp"
#include "trace/analysis/pattern.hpp"

namespace fathom::analysis {

enum class Depth : std::uint8_t {
  waits,       // wait states alone, without what led to them
  causes,      // and delay costs and the critical path
  everything,  // and efficiencies, iterations, pattern
};

struct Analysis {
  explicit Analysis(RunCalls calls) : run(std::move(calls)) {}
  Analysis(const Analysis&) = delete;
  Analysis& operator=(const Analysis&) = delete;

  RunCalls run;
  std::vector<GroupInstances> instances;
  RunWaits waits;
  std::unique_ptr<Intervals> intervals;
  Delays delays;
  CriticalPath path;
  Efficiencies efficiencies;
  Iterations iterations;
  Pattern pattern;

  [[nodiscard]] double location_time() const {  // ns
    return static_cast<double>(run.present()) * static_cast<double>(run.runtime());
  }
  // Mean of an activity over locations, ns.
  [[nodiscard]] std::array<double, kActivities> mean_activity() const;
};

// A trace without calls of a message-passing library is a usage error: there is nothing to wait for. In a team, of
// waits alone every process has those of the calls that it has read (RunCalls::apart()); beyond that the first one has
// all, and the others leave (elsewhere()).
Result<std::unique_ptr<Analysis>> analyse(const Trace& trace, const Work& work, Depth depth = Depth::everything);

}  // namespace fathom::analysis
