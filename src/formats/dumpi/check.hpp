// Everything that can be said against a trace.
#pragma once

#include "formats/dumpi/rank_set.hpp"

namespace fathom::dumpi {

// Notes defects in the set's diagnostics: counts that disagree, times that run backwards, ids that make no sense.
Result<void> check_set(const std::shared_ptr<const RankSet>& set);

}  // namespace fathom::dumpi
