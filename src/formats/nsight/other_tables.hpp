// Tables of a database that the trace makes no use of.
#pragma once

#include "formats/nsight/database.hpp"

namespace fathom::nsight {

// Names and counts those that have times and rows.
Result<void> note_other_tables(const Database& database, Diagnostics& diagnostics);

}  // namespace fathom::nsight
