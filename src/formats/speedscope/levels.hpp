// Profiles of speedscope at their levels: evented ones are a trace, sampled ones a profile.
#pragma once

#include "formats/speedscope/speedscope_file.hpp"
#include "profile/profile.hpp"
#include "trace/trace.hpp"

namespace fathom::speedscope {

Result<std::shared_ptr<const Trace>> trace_of(const SpeedscopeFile& file, const Blob& blob, const Work& work);
Result<ProfilePtr> profile_of(const SpeedscopeFile& file, const Blob& blob, const Work& work);

}  // namespace fathom::speedscope
