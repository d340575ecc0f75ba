// Findings of profiles: where the time goes, how unevenly, and how much of it is not computation.
#pragma once

#include "findings/finding.hpp"
#include "profile/profile.hpp"

namespace fathom {

// `time` is the metric that counts; everything but path and format.
Result<Report> profile_report(const Profile& profile, MetricId time);

// Two profiles of the same program, by region: what became slower is a regression, what became faster a note.
struct PairInput {
  const Profile* profile = nullptr;
  MetricId time;
};
Result<Report> pair_report(const PairInput& before, const PairInput& after);

}  // namespace fathom
