// Time that threads of OpenMP programs are reserved for but have nothing to do in.
#pragma once

#include <vector>

#include "profile/profile.hpp"

namespace fathom::algebra {

// The threads of a process that has several.
struct ThreadTeam {
  LocationId master;
  std::vector<LocationId> workers;
};
std::vector<ThreadTeam> thread_teams(const SystemTree& system);

// Where a call path lies: outside of all parallel regions, at the outermost one, below it.
enum class Parallelism : std::uint8_t { serial, parallel, inside };
// By context; empty: there are no OpenMP parallel regions.
std::vector<Parallelism> parallelism(const Definitions& defs);

// The profile with the metrics omp_idle_threads and, below it, omp_limited_parallelism, both as part of `time`:
// - outside parallel regions a worker idles as long as the first thread of its process works there;
// - in a parallel region a thread that is shorter in it than the first one idles for the rest: limited parallelism.
// Metrics of these names take the values where the profile declares them already. A profile without OpenMP parallel
// regions comes back as it is.
Result<ProfilePtr> with_idle_threads(const ProfilePtr& profile);

}  // namespace fathom::algebra
