// What else stops the running work, and what that means for the program's end.
#pragma once

#include <optional>

#include "base/error.hpp"

namespace fathom {

// Input that is gone (io/mapped_file.hpp) stops the work as Ctrl-C does (base/cancel.hpp), with an error of its own.
// Safe in a signal handler; reset_cancel() takes it back.
void stop_with(Error (*why)()) noexcept;
// Why, or nothing. Results that come after it are worth nothing.
std::optional<Error> stop_reason();

// As the shell counts a process that the signal ended: 130 for Ctrl-C, 143 for SIGTERM.
int cancelled_status() noexcept;

}  // namespace fathom
