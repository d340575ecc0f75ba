// The profile level -> Cube.
#pragma once

#include "formats/cube/cube_writer.hpp"
#include "profile/profile.hpp"

namespace fathom::cube {

// Writes any profile. What Cube has no room for is left out with a warning: derived metrics that CubePL cannot express,
// scopes beyond one per metric. Kinds of edges and modules go into attributes (structure.hpp).
Result<void> write_profile(const Profile& profile, const std::filesystem::path& target,
                           const CubeWriteOptions& options);

// The document alone, with the profile's metric behind each of its metrics.
struct MappedAnchor {
  Anchor anchor;
  std::vector<StoredMetric> sources;  // by metric of the document
};
Result<MappedAnchor> to_anchor(const Profile& profile);

}  // namespace fathom::cube
