// Everything that is wrong with an archive.
#pragma once

#include "formats/otf2/otf2_trace.hpp"

namespace fathom::otf2 {

// Reads all events and notes damage, unmatched enters and leaves, wrong counts and messages without a partner.
Result<void> check_archive(const Otf2Trace& trace);

}  // namespace fathom::otf2
