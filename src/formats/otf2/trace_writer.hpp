// Any trace as an OTF2 archive, through the official library.
#pragma once

#include <filesystem>

#include "base/work.hpp"
#include "trace/trace.hpp"

namespace fathom::otf2 {

// NAME.otf2 with its files beside it; any other target becomes a directory with traces.otf2 in it.
Result<void> write_trace(const Trace& trace, const std::filesystem::path& target, const Work& work);

}  // namespace fathom::otf2
