// DUMPI: traces of MPI calls with all their arguments.
#pragma once

#include "formats/format.hpp"

namespace fathom::dumpi {

const Format& format();
// The text dump, read back.
const Format& text_format();

}  // namespace fathom::dumpi
