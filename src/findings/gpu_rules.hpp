// Findings about GPUs that have nothing to do.
#pragma once

#include "findings/finding.hpp"
#include "trace/trace.hpp"

namespace fathom {

// gpu_idle, with the code that processors ran meanwhile; nothing where the trace has no GPU.
Result<std::optional<Finding>> idle_gpus(const Trace& trace);

}  // namespace fathom
