#pragma once

#include "formats/format.hpp"

namespace fathom::dot {

const Format& format();

}  // namespace fathom::dot
