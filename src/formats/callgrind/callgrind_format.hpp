#pragma once

#include "formats/format.hpp"

namespace fathom::callgrind {

const Format& format();

}  // namespace fathom::callgrind
