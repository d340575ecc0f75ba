// In which call paths a delay was: what a culprit computed more of than its victim, path by path.
#pragma once

#include "trace/analysis/intervals.hpp"

namespace fathom::analysis {

struct PathShare {
  std::uint32_t path = 0;  // RunCalls::paths; 0 = outside of all regions
  double share = 0;        // of the delay; all of them together are 1
  std::int64_t ns = 0;     // that the culprit computed there since both had something in common
};

// MT: externally synchronised.
class PathShares {
 public:
  explicit PathShares(const Intervals& intervals) : intervals_(intervals) {}

  // Whether there is anything to share out: the trace has regions of the program.
  [[nodiscard]] static bool known(const RunCalls& run) { return run.paths.size() > 1; }
  // Of the delay in the computation of a wait's culprit. Valid until the next call.
  const std::vector<PathShare>& of(std::uint32_t victim, const Wait& wait);

 private:
  // Computation between two calls, what is outside of all regions included.
  void collect(std::uint32_t location, std::uint32_t begin, std::uint32_t end, bool from_entry, PathAmounts& out) const;

  const Intervals& intervals_;
  PathAmounts own_;
  PathAmounts other_;
  std::vector<PathShare> shares_;
};

}  // namespace fathom::analysis
