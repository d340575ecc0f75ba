// Another metric tree over the same values: what a remapping spec (Score-P puts one into its profiles) declares.
#pragma once

#include "formats/dataset.hpp"
#include "io/blob.hpp"
#include "profile/profile.hpp"

namespace fathom::cube {

// The metrics of the spec in its order: derived ones with their expressions, the others with the values of the input's
// metric of that unique name. Metrics of the input that the spec does not name follow behind.
Result<ProfilePtr> remap(const ProfilePtr& profile, const Blob& spec);

// The spec inside a Cube 4 file; an error when there is none.
Result<Blob> stored_spec(const Dataset& dataset);

}  // namespace fathom::cube
