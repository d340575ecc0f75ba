// A pprof profile as a profile of the level.
#pragma once

#include "formats/pprof/pprof_file.hpp"
#include "profile/profile.hpp"

namespace fathom::pprof {

// A context per stack of functions: lines inside of a function are not kept apart. Frames that the file says to drop
// are dropped as pprof does. Labels that name a process or thread make locations.
Result<ProfilePtr> to_profile(const PprofFile& file, const Work& work);

}  // namespace fathom::pprof
