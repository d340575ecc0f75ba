// What the rules over a profile work on; one file for each family of rules (kinds.cpp lists what they find).
#pragma once

#include <functional>

#include "findings/finding.hpp"
#include "profile/compute.hpp"
#include "profile/profile.hpp"
#include "profile/views.hpp"

namespace fathom {

struct ProfileRules {
  ProfilePtr profile;
  const Definitions& defs;
  MetricId time;
  double total = 0;                     // of all locations
  FlatProfile flat{};                   // by region
  std::vector<std::string> group_of{};  // MPI, OMP, ..., by region
  std::vector<std::string> uneven{};    // regions that an imbalance was found in
  std::vector<Finding> findings{};

  static Result<ProfileRules> over(ProfilePtr profile, MetricId time);

  // A finding with severity and level.
  Finding& add(std::string kind, double lost);
  // "1.2 s (3.4 % of all time)", "12 M (3.4 % of all Ir)"
  [[nodiscard]] std::string lost_text(const Finding& finding) const;
  [[nodiscard]] std::string amount(double value) const;
  // Calls of MPI, and what OpenMP does beside the program's own code.
  [[nodiscard]] bool is_library(RegionId region) const;
  bool knows_waits = false;  // wait states are stored in the profile
  // Locations with the largest values.
  [[nodiscard]] LocationShares largest(const std::vector<double>& by_location) const;
};

// Locations spend different times in a call path: imbalance.
Result<void> find_imbalances(ProfileRules& rules);
// Where the time goes: hot_spot, mpi_share, openmp_share, io_share, gpu_share.
void find_hot_spots(ProfileRules& rules);
void find_shares(ProfileRules& rules);
// Threads and GPUs without work: serial_section, gpu_idle.
Result<void> find_serial_sections(ProfileRules& rules);
Result<void> find_idle_gpus(ProfileRules& rules);
// What the file says of itself: wait states that are stored in it, measurement_overhead.
Result<void> take_stored_waits(ProfileRules& rules);
Result<void> find_measurement_overhead(ProfileRules& rules);

// The time that contexts (rows) take themselves at parts of the locations (columns, from `first` on), one after the
// other so that large profiles need little memory.
Result<void> each_part(const Profile& profile, MetricId time,
                       const std::function<void(std::uint32_t first, const Cells& cells)>& body);

// A barrier, a lock, waiting for tasks: the code inside of constructs is the program's own.
bool is_openmp_runtime(const Region& region);
// That the sum of all is no number.
Error no_total(const Profile& profile, MetricId time, double total);
// "12.3 %"
std::string percent_text(double part);

}  // namespace fathom
