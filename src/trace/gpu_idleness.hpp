// Who keeps the GPU waiting: idle time of GPU streams, charged to the CPU code that ran meanwhile.
#pragma once

#include <optional>
#include <span>

#include "trace/statistics.hpp"
#include "trace/trace.hpp"

namespace fathom {

// A GPU counts as idle while none of the GPU streams of its process runs anything, between the first and the last
// sample of the process' CPU threads. That time is shared out evenly among the CPU threads of the process that are busy
// then, each to the function that it is in (at `depth` of the stack where given); with no thread busy it goes to
// idleness itself. Processes without GPU streams have no part in it. Rows: call, wall_s, share (of all idle time).
Result<Table> gpu_idleness(const Trace& trace, std::span<const LocationId> locations, const StatisticsOptions& options,
                           std::optional<std::size_t> depth);

}  // namespace fathom
