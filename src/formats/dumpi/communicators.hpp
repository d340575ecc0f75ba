// Which ranks of the run stand behind the communicators that the program made.
#pragma once

#include "formats/dumpi/communicator_calls.hpp"
#include "formats/dumpi/resolve.hpp"

namespace fathom::dumpi {

// Communicators are made by all their members together: the ranks' creating calls are played against each other.
// `calls` as RankSet::files(); `out` holds the world and self already.
Result<void> resolve_communicators(const RankSet& set, std::vector<CommunicatorCalls> calls, Resolution& out);

}  // namespace fathom::dumpi
