// Questions about where things ran: locations, and how they are arranged.
#pragma once

#include "defs/definitions.hpp"
#include "serve/request.hpp"

namespace fathom::serve {

// Columns: label, name, process, node, rank of every location.
Result<Answer> location_columns(const Definitions& defs);
// Cartesian arrangements: names, dimensions, and for each place the locations that stand there.
Result<Answer> topologies(const Definitions& defs);

}  // namespace fathom::serve
