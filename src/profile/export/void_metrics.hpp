// Metrics that are declared void count as zero, whatever is stored for them. Only Cube can keep what is stored: whoever
// writes something else leaves it out, and says so here.
#pragma once

#include <string_view>
#include <vector>

#include "profile/profile.hpp"

namespace fathom {

// The metrics that are not void. Those that are, and yet store values that are not zero, are reported as left out of
// `written`, with how many values they store.
Result<std::vector<MetricId>> without_void_metrics(const Profile& profile, const std::vector<MetricId>& metrics,
                                                   std::string_view written);

}  // namespace fathom
