// Files of speedscope.
#pragma once

#include "formats/format.hpp"

namespace fathom::speedscope {

const Format& format();

}  // namespace fathom::speedscope
