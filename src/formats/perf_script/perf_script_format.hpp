// The text that `perf script` prints.
#pragma once

#include "formats/format.hpp"

namespace fathom::perf_script {

const Format& format();

}  // namespace fathom::perf_script
