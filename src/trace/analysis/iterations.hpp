// Steps of the program's main loop, those that are slow, and where their length changes for good.
#pragma once

#include "trace/analysis/efficiencies.hpp"

namespace fathom::analysis {

struct Step {
  std::int64_t from = 0;
  std::int64_t to = 0;
  [[nodiscard]] std::int64_t length() const { return to - from; }
};

struct Phase {
  std::int64_t from = 0;
  std::int64_t to = 0;
  double median = 0;  // of its steps, ns
  std::string name;   // of the marker with which it begins; empty = none
  Efficiencies efficiencies;
};

struct Iterations {
  std::vector<Step> steps;          // empty = none were found
  double median = 0;                // ns
  std::vector<std::uint32_t> slow;  // those that stand out; empty when they are too many to be an exception
  std::vector<Phase> phases;        // one, or two where the length of steps changes

  // The slow step that holds a moment.
  [[nodiscard]] bool in_slow_step(std::int64_t time) const;
};

Iterations find_iterations(const RunCalls& run);

}  // namespace fathom::analysis
