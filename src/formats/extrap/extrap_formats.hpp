// The experiment formats that Extra-P defines.
#pragma once

#include "formats/format.hpp"

namespace fathom::extrap {

const Format& text_format();
const Format& talpas_format();
const Format& json_format();
const Format& json_lines_format();
const Format& extra_p_format();
const Format& extra_p_3_format();

}  // namespace fathom::extrap
