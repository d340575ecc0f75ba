// The records of an archive as text, in the manner of the community's own printer: a line per record, definitions
// first.
#pragma once

#include "formats/dataset.hpp"
#include "formats/otf2/archive.hpp"

namespace fathom::otf2 {

// Sections: "anchor", "definitions", "local" (definitions of locations), "events" (merged by time), or the id of a
// location for its events alone. None = all but local.
Result<void> dump(const Archive& archive, const DumpOptions& options, const TextSink& sink);

}  // namespace fathom::otf2
