// Progress of long work as a bar on stderr.
#pragma once

#include "base/execution.hpp"

namespace fathom::cli {

// Nobody is told when stderr is no terminal.
ProgressSink progress_bar();

}  // namespace fathom::cli
