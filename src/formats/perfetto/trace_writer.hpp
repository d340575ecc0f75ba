// Any trace as a Perfetto trace.
#pragma once

#include <filesystem>

#include "base/work.hpp"
#include "trace/trace.hpp"

namespace fathom::perfetto {

Result<void> write_trace(const Trace& trace, const std::filesystem::path& target, const Work& work);

}  // namespace fathom::perfetto
