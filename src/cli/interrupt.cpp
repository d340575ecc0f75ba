#include "cli/interrupt.hpp"

#include <csignal>

namespace fathom::cli {

namespace {

std::atomic<bool> g_interrupted{false};
std::atomic<int> g_signal{0};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
              "the handler may only touch lock-free atomics");

extern "C" void on_interrupt(int signal_number) {
  g_signal.store(signal_number, std::memory_order_relaxed);
  g_interrupted.store(true, std::memory_order_relaxed);
  std::signal(signal_number, SIG_DFL);  // the next one ends the process
}

}  // namespace

void install_interrupt_handler() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    if (sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) continue;
    action = {};
    action.sa_handler = on_interrupt;
    sigemptyset(&action.sa_mask);
    // Not SA_RESTART: whoever waits for the other end of a pipe must notice.
    sigaction(number, &action, nullptr);
  }
}

// Shared in form only: the flag lives as long as the process.
CancelFlag interrupt_flag() { return {CancelFlag(), &g_interrupted}; }

int interrupted_status() noexcept {
  const int number = g_signal.load();
  return 128 + (number == 0 ? SIGINT : number);
}

}  // namespace fathom::cli
