// Ctrl-C: the first one asks the running work to stop, the second one kills the process.
#pragma once

#include "base/result.hpp"

namespace fathom {

// Installs the handler; called once by the program, never by the library.
void install_interrupt_handler();
// MT: safe. Long loops ask once per block of work.
bool cancelled() noexcept;
Error cancelled_error();

// What the handler does, for tests and for hosts with their own way of interrupting.
void request_cancel() noexcept;
void reset_cancel() noexcept;

}  // namespace fathom
