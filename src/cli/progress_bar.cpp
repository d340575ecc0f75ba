#include "cli/progress_bar.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace fathom::cli {

namespace {

constexpr std::size_t kBarWidth = 30;

void draw(const ProgressReport& report) {
  if (report.finished) {
    std::fputs("\r\x1b[K", stderr);
    return;
  }
  const double share = static_cast<double>(report.done) / static_cast<double>(report.total);
  const auto filled = static_cast<std::size_t>(share * kBarWidth);
  std::string bar;
  for (std::size_t i = 0; i < kBarWidth; ++i) bar += i < filled ? "█" : "░";
  fmt::print(stderr, "\r\x1b[K{} {} {:3.0f}%", report.label, bar, share * 100);
  std::fflush(stderr);
}

}  // namespace

ProgressSink progress_bar() {
  if (isatty(STDERR_FILENO) != 1) return nullptr;
  return draw;
}

}  // namespace fathom::cli
