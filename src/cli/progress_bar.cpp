#include "cli/progress_bar.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "base/number.hpp"

namespace fathom::cli {

namespace {

constexpr std::size_t kBarWidth = 30;

// How fast it goes and how long it will take, once there is something to judge by.
std::string pace(const ProgressReport& report) {
  if (report.done == 0 || report.elapsed_ms <= 0) return {};
  const double seconds = static_cast<double>(report.elapsed_ms) / 1000;
  const double rate = static_cast<double>(report.done) / seconds;
  const double left = static_cast<double>(report.total - std::min(report.done, report.total)) / rate;
  std::string time = left >= 3600  ? fmt::format("{:.1f} h", left / 3600)
                     : left >= 100 ? fmt::format("{:.0f} min", left / 60)
                                   : fmt::format("{:.0f} s", left);
  return fmt::format("  {}/s  {} left", readable(rate, ""), time);
}

void draw(const ProgressReport& report) {
  if (report.finished) {
    std::fputs("\r\x1b[K", stderr);
    return;
  }
  const double share = static_cast<double>(report.done) / static_cast<double>(report.total);
  const auto filled = static_cast<std::size_t>(share * kBarWidth);
  std::string bar;
  for (std::size_t i = 0; i < kBarWidth; ++i) bar += i < filled ? "█" : "░";
  fmt::print(stderr, "\r\x1b[K{} {} {:3.0f}%{}", report.label, bar, share * 100, pace(report));
  std::fflush(stderr);
}

}  // namespace

ProgressSink progress_bar() {
  if (isatty(STDERR_FILENO) != 1) return nullptr;
  return draw;
}

}  // namespace fathom::cli
