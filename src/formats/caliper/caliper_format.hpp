#pragma once

#include "formats/format.hpp"

namespace fathom::caliper {

// The text stream and json-split.
const Format& format();
const Format& json_format();

}  // namespace fathom::caliper
