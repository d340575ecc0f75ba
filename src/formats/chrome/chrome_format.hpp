// Chrome traces (Trace Event Format), also of PyTorch.
#pragma once

#include "formats/format.hpp"

namespace fathom::chrome {

const Format& format();

}  // namespace fathom::chrome
