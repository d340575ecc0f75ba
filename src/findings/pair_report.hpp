// Findings of two datasets, an earlier and a later one: what became slower, beyond the noise.
#pragma once

#include "findings/finding.hpp"
#include "profile/profile.hpp"

namespace fathom {

// By region: what became slower is a regression, what became faster a note. Each side is one run or several of the same
// thing; with several a change counts where it is larger than what repetitions differ by. Everything but path and
// format.
Result<Report> pair_report(const std::vector<ProfilePtr>& before, const std::vector<ProfilePtr>& after);

}  // namespace fathom
