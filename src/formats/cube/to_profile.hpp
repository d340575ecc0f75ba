// Cube -> the profile level.
#pragma once

#include <memory>

#include "formats/cube/cube_file.hpp"
#include "profile/profile.hpp"

namespace fathom::cube {

// Contexts are the cnodes in document order, metrics likewise; locations are numbered by their Id.
Result<ProfilePtr> to_profile(const std::shared_ptr<const CubeFile>& file);

}  // namespace fathom::cube
