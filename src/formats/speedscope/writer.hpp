// Any trace and any profile as a file of speedscope.
#pragma once

#include <filesystem>

#include "base/work.hpp"
#include "formats/dataset.hpp"
#include "profile/export/stack_export.hpp"
#include "trace/trace.hpp"

namespace fathom::speedscope {

Result<void> write_trace(const Trace& trace, const std::filesystem::path& target, const Work& work);
Result<void> write_profile(const Profile& profile, const std::filesystem::path& target, const WriteOptions& options);

}  // namespace fathom::speedscope
