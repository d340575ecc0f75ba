#pragma once

#include "formats/format.hpp"

namespace fathom::folded {

const Format& format();

}  // namespace fathom::folded
