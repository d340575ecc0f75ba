// Registration of Cube 3.
#pragma once

#include "formats/format.hpp"

namespace fathom::cube3 {

const Format& format();

}  // namespace fathom::cube3
