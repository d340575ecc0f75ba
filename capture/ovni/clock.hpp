#pragma once

namespace fathom::ovni_runtime {

// Chooses the clock; before the first event.
void start_clock();

}  // namespace fathom::ovni_runtime
