#include "base/cancel.hpp"

#include <atomic>
#include <csignal>

#include "base/stop.hpp"

namespace fathom {

namespace {

using Reason = Error (*)();

std::atomic<int> g_signal{0};
std::atomic<Reason> g_reason{nullptr};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<Reason>::is_always_lock_free,
              "the handler may only touch lock-free atomics");

extern "C" void on_interrupt(int signal_number) {
  g_signal.store(signal_number, std::memory_order_relaxed);
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

bool cancelled() noexcept {
  return g_signal.load(std::memory_order_relaxed) != 0 || g_reason.load(std::memory_order_relaxed) != nullptr;
}

Error cancelled_error() {
  if (g_signal.load() == 0) {
    if (const Reason reason = g_reason.load()) return reason();
  }
  return Error("interrupted").as(ErrorKind::cancelled);
}

std::optional<Error> stop_reason() {
  const Reason reason = g_reason.load(std::memory_order_relaxed);
  if (reason == nullptr) return std::nullopt;
  return reason();
}

int cancelled_status() noexcept {
  const int number = g_signal.load();
  return 128 + (number == 0 ? SIGINT : number);
}

void request_cancel() noexcept { g_signal.store(SIGINT, std::memory_order_relaxed); }
void stop_with(Reason why) noexcept { g_reason.store(why, std::memory_order_relaxed); }
void reset_cancel() noexcept {
  g_signal.store(0, std::memory_order_relaxed);
  g_reason.store(nullptr, std::memory_order_relaxed);
}

}  // namespace fathom
