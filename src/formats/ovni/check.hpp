// Everything that is wrong with a trace.
#pragma once

#include "formats/ovni/native_trace.hpp"

namespace fathom::ovni {

// Notes every defect in the diagnostics: metadata, clocks, order, payloads, and what the models do not allow. Goes on
// behind each.
Result<void> check_trace(const NativeTrace& trace, const Work& work);

}  // namespace fathom::ovni
