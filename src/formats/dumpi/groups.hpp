// Groups of ranks, by the rules of MPI.
#pragma once

#include <optional>
#include <vector>

#include "formats/dumpi/communicator_calls.hpp"

namespace fathom::dumpi {

using Ranks = std::vector<std::int32_t>;  // of the run

// Whether a call makes a group from other groups.
bool makes_group(std::uint16_t id);

// What such a call makes of its groups (`second` only where there are two); nothing when they are not known.
std::optional<Ranks> made_group(const CommunicatorCall& call, const std::optional<Ranks>& first,
                                const std::optional<Ranks>& second);

}  // namespace fathom::dumpi
