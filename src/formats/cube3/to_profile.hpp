// Cube 3 -> the profile level.
#pragma once

#include "formats/cube3/cube3_file.hpp"
#include "profile/profile.hpp"

namespace fathom::cube3 {

// Locations are the threads by rising Id: the columns of the rows.
Result<ProfilePtr> to_profile(const std::shared_ptr<const Cube3File>& file, const Work& work);

}  // namespace fathom::cube3
