// Calls, times and bytes per region, and who sends to whom, from the events of any trace.
#pragma once

#include "trace/statistics.hpp"
#include "trace/trace.hpp"

namespace fathom {

// count: enters inside the window. wall: from enter to leave, of recursive calls the outermost alone; a leave of an
// outer region closes what is open inside of it, one of a region that is not open counts for nothing, and what is open
// at the end closes with the location's last event. Tasks have stacks of their own. Bytes: of messages and collectives
// inside of the region. Matrix: of sends whose receiver is known.
Result<TraceStatistics> call_statistics(const Trace& trace, const StatisticsOptions& options);

}  // namespace fathom
