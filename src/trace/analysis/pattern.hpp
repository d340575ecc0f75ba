// Who talks to whom: the shape of the message matrix.
#pragma once

#include <map>

#include "trace/analysis/calls.hpp"

namespace fathom::analysis {

struct Pattern {
  std::string name = "none";          // none, hub, ring, stencil, butterfly, all-to-all, irregular
  std::vector<std::int64_t> offsets;  // receiver - sender, the most used first; modulo the number of ranks
  std::uint64_t messages = 0;
  double bytes = 0;
  std::uint32_t hub = kNone;                 // process
  std::vector<std::uint32_t> hot_receivers;  // processes that get more than three times the mean
};

Pattern find_pattern(const RunCalls& run);

}  // namespace fathom::analysis
