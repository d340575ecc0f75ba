// Findings of profiles: where the time goes, how unevenly, and how much of it is not computation.
#pragma once

#include "findings/finding.hpp"
#include "profile/profile.hpp"

namespace fathom {

// `time` is the metric that counts; everything but path and format.
Result<Report> profile_report(ProfilePtr profile, MetricId time);

}  // namespace fathom
