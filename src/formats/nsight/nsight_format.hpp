// Nsight Systems databases (nsys export --type sqlite): one file alone, or directories of them.
#pragma once

#include "formats/format.hpp"

namespace fathom::nsight {

const Format& format();

}  // namespace fathom::nsight
