// A Paraver trace at the trace level: states and events are values of channels, communications are messages. Hardware
// counters are counters, and what our own writer has marked as markers, collectives and ends of operations is that
// again.
#pragma once

#include <memory>

#include "formats/paraver/prv_file.hpp"
#include "trace/trace.hpp"

namespace fathom::paraver {

Result<std::shared_ptr<const Trace>> make_trace(PrvFile file, const PcfNames& names,
                                                const std::vector<std::string>& rows, const Work& work);

}  // namespace fathom::paraver
