// Work that is asked to stop.
#pragma once

#include "base/execution.hpp"
#include "base/result.hpp"
#include "base/stop.hpp"

namespace fathom {

// MT: safe. Long loops ask once per block of work.
inline bool cancelled() noexcept { return Execution::current().cancelled() || stopped(); }
Error cancelled_error();

}  // namespace fathom
