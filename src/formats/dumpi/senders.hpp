// Receives from anybody whose status was not recorded ("strangers"): who sent what they took, where numbers tell it.
#pragma once

#include "formats/dumpi/dumpi_trace.hpp"

namespace fathom::dumpi {

// Ranks of the senders by location, in the order in which its records tell of them; kUnknownPeer where it cannot be
// told, a location with none that can has an empty list. What a sender sent and nobody received from it by name was
// taken by a stranger: where all that is left is as much as the strangers took, they took it.
Result<std::vector<std::vector<std::int32_t>>> senders_of_strangers(const DumpiTrace& trace,
                                                                    const std::vector<ScanResult>& scans);

}  // namespace fathom::dumpi
