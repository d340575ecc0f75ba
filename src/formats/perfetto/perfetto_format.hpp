// Perfetto traces (protobuf).
#pragma once

#include "formats/format.hpp"

namespace fathom::perfetto {

const Format& format();

}  // namespace fathom::perfetto
