// Findings about threads, from how well a trace says they are used.
#pragma once

#include "findings/finding.hpp"
#include "trace/analysis/threads.hpp"

namespace fathom {

// serial_section: threads without work while one works alone; idle_threads: inside of parallel regions and tasks.
std::vector<Finding> thread_findings(const analysis::ThreadEfficiencies& threads);

}  // namespace fathom
