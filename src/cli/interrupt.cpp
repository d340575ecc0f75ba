#include "cli/interrupt.hpp"

#include <csignal>

namespace fathom::cli {

namespace {

std::atomic<bool> g_interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "the handler may only touch lock-free atomics");

extern "C" void on_interrupt(int signal_number) {
  g_interrupted.store(true, std::memory_order_relaxed);
  std::signal(signal_number, SIG_DFL);  // the next one ends the process
}

}  // namespace

void install_interrupt_handler() { std::signal(SIGINT, on_interrupt); }

// Shared in form only: the flag lives as long as the process.
CancelFlag interrupt_flag() { return {CancelFlag(), &g_interrupted}; }

}  // namespace fathom::cli
