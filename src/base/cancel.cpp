#include "base/cancel.hpp"

#include <atomic>
#include <csignal>

namespace fathom {

namespace {

std::atomic<bool> g_cancelled{false};
static_assert(std::atomic<bool>::is_always_lock_free, "the handler may only touch lock-free atomics");

extern "C" void on_interrupt(int signal_number) {
  g_cancelled.store(true, std::memory_order_relaxed);
  std::signal(signal_number, SIG_DFL);  // the next one ends the process
}

}  // namespace

void install_interrupt_handler() { std::signal(SIGINT, on_interrupt); }

bool cancelled() noexcept { return g_cancelled.load(std::memory_order_relaxed); }

Error cancelled_error() { return Error("interrupted").as(ErrorKind::cancelled); }

void request_cancel() noexcept { g_cancelled.store(true, std::memory_order_relaxed); }
void reset_cancel() noexcept { g_cancelled.store(false, std::memory_order_relaxed); }

}  // namespace fathom
