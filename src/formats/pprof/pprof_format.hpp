#pragma once

#include "formats/format.hpp"

namespace fathom::pprof {

const Format& format();

}  // namespace fathom::pprof
