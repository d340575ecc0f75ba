// Cube -> the profile level.
#pragma once

#include <memory>

#include "formats/cube/cube_file.hpp"
#include "profile/cubepl/cubepl.hpp"
#include "profile/profile.hpp"

namespace fathom::cube {

// Contexts are the cnodes in document order, metrics likewise; locations are numbered by their Id.
Result<ProfilePtr> to_profile(const std::shared_ptr<const CubeFile>& file);

// What an anchor says of a metric, besides its type and which values are stored; the parent is its position there.
Metric describe(const AnchorMetric& metric);
// The texts of a derived metric.
cubepl::Source cubepl_source(const AnchorMetric& metric);

}  // namespace fathom::cube
