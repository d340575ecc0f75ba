// ovni traces as a format of the registry.
#pragma once

#include "formats/format.hpp"

namespace fathom::ovni {

const Format& format();

}  // namespace fathom::ovni
