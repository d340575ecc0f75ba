#include "base/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace fathom {

namespace {
constexpr std::int64_t kFirstDrawMs = 500;
constexpr std::int64_t kRedrawMs = 100;
constexpr std::size_t kBarWidth = 30;
std::atomic<bool> g_enabled{true};
}  // namespace

void set_progress_enabled(bool enabled) { g_enabled = enabled; }

Progress::Progress(std::string label, std::uint64_t total)
    : label_(std::move(label)),
      total_(std::max<std::uint64_t>(total, 1)),
      next_draw_ms_(kFirstDrawMs),
      start_(std::chrono::steady_clock::now()),
      enabled_(g_enabled && isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (drawn_) std::fputs("\r\x1b[K", stderr);
}

void Progress::advance(std::uint64_t steps) {
  const std::uint64_t done = done_.fetch_add(steps, std::memory_order_relaxed) + steps;
  if (!enabled_) return;
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start_);
  std::int64_t due = next_draw_ms_.load(std::memory_order_relaxed);
  if (now.count() < due || !next_draw_ms_.compare_exchange_strong(due, now.count() + kRedrawMs)) return;
  draw(std::min(done, total_));
}

void Progress::draw(std::uint64_t done) {
  const auto filled = static_cast<std::size_t>(static_cast<double>(done) / static_cast<double>(total_) * kBarWidth);
  std::string bar;
  for (std::size_t i = 0; i < kBarWidth; ++i) bar += i < filled ? "█" : "░";
  fmt::print(stderr, "\r\x1b[K{} {} {:3}%", label_, bar, done * 100 / total_);
  std::fflush(stderr);
  drawn_ = true;
}

}  // namespace fathom
