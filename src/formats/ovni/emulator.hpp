// Replays a trace through the models into views of threads and CPUs.
#pragma once

#include <optional>

#include "formats/ovni/machine.hpp"
#include "trace/views.hpp"

namespace fathom::ovni {

struct EmulationOptions {
  bool breakdown = false;                        // -b
  bool lint = false;                             // -l: stacks must be empty at the end
  bool all_models = false;                       // -a
  std::optional<std::filesystem::path> offsets;  // -c; else the trace's own table, if it has one
};

// What is written of a rejected trace is everything up to the event that is wrong. The error says which and why.
Result<void> emulate(const NativeTrace& trace, const EmulationOptions& options, ViewSink& sink, const Work& work);

}  // namespace fathom::ovni
