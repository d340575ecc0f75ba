// Events and messages of a trace as tables.
#pragma once

#include <memory>
#include <vector>

#include "base/table.hpp"
#include "trace/trace.hpp"

namespace fathom {

using TracePtr = std::shared_ptr<const Trace>;

// One part per location, each in time order; what is carried into the window is left out.
std::unique_ptr<TableSource> event_scan(TracePtr trace, TimeWindow window, std::vector<LocationId> locations);

// One part. `locations`: those that send or receive; empty = all.
std::unique_ptr<TableSource> message_scan(TracePtr trace, TimeWindow window, std::vector<LocationId> locations);

}  // namespace fathom
