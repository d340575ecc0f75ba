#include "base/cancel.hpp"

#include <atomic>

namespace fathom {

namespace {

using Reason = Error (*)();
std::atomic<Reason> g_reason{nullptr};
static_assert(std::atomic<Reason>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

}  // namespace

void stop_with(Reason why) noexcept { g_reason.store(why, std::memory_order_relaxed); }
bool stopped() noexcept { return g_reason.load(std::memory_order_relaxed) != nullptr; }
void forget_stop() noexcept { g_reason.store(nullptr, std::memory_order_relaxed); }

std::optional<Error> stop_reason() {
  const Reason reason = g_reason.load(std::memory_order_relaxed);
  if (reason == nullptr) return std::nullopt;
  return reason();
}

Error cancelled_error() {
  if (!Execution::current().cancelled()) {
    if (auto reason = stop_reason()) return *std::move(reason);
  }
  return Error("interrupted").as(ErrorKind::cancelled);
}

}  // namespace fathom
