#pragma once

#include "formats/format.hpp"

namespace fathom::tau {

const Format& format();

}  // namespace fathom::tau
