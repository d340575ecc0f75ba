// Time that threads of OpenMP programs are reserved for but have nothing to do in.
#pragma once

#include "profile/profile.hpp"

namespace fathom::algebra {

// The profile with the metrics omp_idle_threads and, below it, omp_limited_parallelism, both as part of `time`:
// - outside parallel regions a worker idles as long as the first thread of its process works there;
// - in a parallel region a thread that is shorter in it than the first one idles for the rest: limited parallelism.
// Metrics of these names take the values where the profile declares them already. A profile without OpenMP parallel
// regions comes back as it is.
Result<ProfilePtr> with_idle_threads(const ProfilePtr& profile);

}  // namespace fathom::algebra
