// Writes any trace as a Paraver trace: NAME.prv (states, events, communications), NAME.pcf (what the numbers mean),
// NAME.row (names of tasks and threads).
//
// Processes are tasks, locations are threads; times count from the first event. What a location does becomes its
// states; regions, channels, counters, markers, samples and collectives become events, of the types in trace_names.hpp.
#pragma once

#include <filesystem>

#include "base/work.hpp"
#include "trace/trace.hpp"

namespace fathom::paraver {

Result<void> write_trace(const Trace& trace, const std::filesystem::path& prv, const Work& work);

}  // namespace fathom::paraver
