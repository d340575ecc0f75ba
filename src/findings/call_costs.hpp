// What communication costs beside waiting: many small messages, transfers that could have run earlier, empty exchanges.
#pragma once

#include "trace/analysis/analysis.hpp"

namespace fathom {

inline constexpr std::int64_t kTinyBytes = 512;

struct CallCost {
  double ns = 0;
  std::vector<double> locations;
  std::vector<double> names;
};

struct CallCosts {
  CallCost all;     // time in calls, without waiting, files and MPI_Init
  CallCost tiny;    // of calls whose messages are all tiny
  CallCost counts;  // of Alltoallv and Alltoallw
  std::uint64_t messages = 0;
  std::uint64_t tiny_messages = 0;
  double tiny_bytes = 0;
  double zero_share = 0;  // of the counts of Alltoallv and Alltoallw
};

Result<CallCosts> find_call_costs(const analysis::Analysis& analysis);

}  // namespace fathom
