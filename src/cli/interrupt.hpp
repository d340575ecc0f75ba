// Ctrl-C, SIGTERM and SIGHUP: the first one asks the running work to stop, the second one kills the process.
#pragma once

#include "base/execution.hpp"

namespace fathom::cli {

// Installs the handler; called once by the program.
void install_interrupt_handler();
// Set by the handler; for the execution of every command.
CancelFlag interrupt_flag();
// As the shell counts a process that the signal ended: 130 for Ctrl-C, 143 for SIGTERM.
int interrupted_status() noexcept;

}  // namespace fathom::cli
