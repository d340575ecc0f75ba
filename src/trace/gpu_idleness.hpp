// Who keeps the GPU waiting: idle time of GPU streams, charged to the CPU code that ran meanwhile.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "trace/statistics.hpp"
#include "trace/trace.hpp"

namespace fathom {

// A stream of a GPU, by what the file says that the location is.
bool is_gpu(const SystemTree& system, LocationId location);
// A thread of a processor: no GPU, no track of a viewer that things float on, no place of counters.
bool is_cpu(const SystemTree& system, LocationId location);

struct GpuIdleness {
  double whole_s = 0;                                   // as long as CPU threads of processes with GPUs run
  std::vector<std::pair<std::string, double>> by_call;  // idle seconds by CPU function, falling
  [[nodiscard]] Table table() const;                    // call, wall_s, share (of all idle time)
};

// A GPU counts as idle while none of the GPU streams of its process runs anything, between the first and the last
// event of the process' CPU threads. That time is shared out evenly among the CPU threads of the process that are busy
// then, each to the function that it is in (at `depth` of the stack where given); with no thread busy it goes to
// idleness itself. Processes without GPU streams have no part in it. Busy is who is in a region, or whose sample says
// so.
Result<GpuIdleness> gpu_idleness(const Trace& trace, std::span<const LocationId> locations,
                                 const StatisticsOptions& options, std::optional<std::size_t> depth);

}  // namespace fathom
