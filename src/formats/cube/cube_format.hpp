// Cube 4 profiles (.cubex) as a format of the registry.
#pragma once

#include "formats/format.hpp"

namespace fathom::cube {

const Format& format();

}  // namespace fathom::cube
