#include "cli/progress_bar.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "base/number.hpp"
#include "base/text.hpp"
#include "report/terminal.hpp"

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
  // One line whatever the terminal's width, so that the next one replaces it: the label gives way, then the bar.
  const std::size_t width = Terminal::of(STDERR_FILENO).width;
  const double share = static_cast<double>(report.done) / static_cast<double>(report.total);
  const std::string right = fmt::format(" {:3.0f}%{}", share * 100, pace(report));
  const std::size_t room = width > right.size() + 1 ? width - right.size() - 1 : 0;
  const std::size_t columns = std::min(kBarWidth, room / 2);
  const auto filled = static_cast<std::size_t>(share * static_cast<double>(columns));
  std::string bar;
  for (std::size_t i = 0; i < columns; ++i) bar += i < filled ? "█" : "░";
  fmt::print(stderr, "\r\x1b[K{} {}{}", fit(report.label, room - columns), bar, right);
  std::fflush(stderr);
}

}  // namespace

ProgressSink progress_bar() {
  if (isatty(STDERR_FILENO) != 1) return nullptr;
  return draw;
}

}  // namespace fathom::cli
