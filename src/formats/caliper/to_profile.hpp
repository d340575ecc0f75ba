// Records of Caliper as a profile.
#pragma once

#include "formats/caliper/records.hpp"
#include "profile/profile.hpp"

namespace fathom::caliper {

// Nested attributes are the call path, mpi.rank and thread ids the location, every other number a metric. Records of a
// time series are contexts of their own, told apart by the parameter that counts them (block, iteration).
Result<ProfilePtr> to_profile(const Records& records, const Work& work);

}  // namespace fathom::caliper
