// What stops work besides being asked to: input that is gone (io/mapped_file.hpp). A page that cannot be read any more
// hits whichever thread touches it, so this is one for the process, and comes from a signal handler.
#pragma once

#include <optional>

#include "base/error.hpp"

namespace fathom {

// Safe in a signal handler.
void stop_with(Error (*why)()) noexcept;
bool stopped() noexcept;
// Why, or nothing. Results that come after it are worth nothing.
std::optional<Error> stop_reason();
void forget_stop() noexcept;

}  // namespace fathom
