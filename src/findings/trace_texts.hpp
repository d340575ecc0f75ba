// The sentences of findings about traces.
#pragma once

#include "findings/finding.hpp"

namespace fathom {

// Numbers that the sentences use beside the finding's own.
struct TextNumbers {
  double runtime_s = 0;
  double excess = 0;  // of the first culprit over the mean, share
  double excess_s = 0;
  double callpath_share = 0;  // of the excess, in where.callpath
  double concurrency = 0;     // ranks that work at a time
  std::uint64_t ranks = 0;
  double service_s = 0;
  double median_s = 0;
  double slow_s = 0;
  std::uint64_t messages = 0;
  double mean_bytes = 0;
  double per_step = 0;  // messages of a rank in one step; 0 = not known
  double zero_share = 0;
  std::string node;    // that all culprits share
  std::string region;  // in which most is waited for the culprits themselves, not for others who wait for them
};

// Sets text and advice; everything else is there.
void write_trace_texts(Finding& finding, const TextNumbers& numbers);

}  // namespace fathom
