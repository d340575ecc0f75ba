#include "report/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "base/text.hpp"

namespace fathom {

namespace {
constexpr std::size_t kDefaultWidth = 100;
constexpr double kHot = 0.25;
constexpr double kWarm = 0.05;
constexpr double kCold = 0.005;

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

}  // namespace

Terminal Terminal::of(int descriptor) {
  // Open MPI's launcher gives its processes a terminal where there may be none.
  if (isatty(descriptor) != 1 || is_set("OMPI_COMM_WORLD_SIZE")) return {};
  Terminal terminal{.colour = !is_set("NO_COLOR"), .bars = true, .width = kDefaultWidth};
  const char* kind = std::getenv("TERM");
  if (kind != nullptr && std::string_view(kind) == "dumb") terminal.colour = false;
  winsize size{};
  if (const char* columns = std::getenv("COLUMNS"); columns != nullptr) {
    terminal.width = parse_integer<std::size_t>(columns).value_or(kDefaultWidth);
  } else if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    terminal.width = size.ws_col;
  }
  return terminal;
}

std::string Terminal::paint(std::string_view text, Style style) const {
  static constexpr std::array<const char*, 8> kCodes = {"", "1", "2", "31", "33", "32", "36", "34"};
  if (!colour || style == Style::plain || text.empty()) return std::string(text);
  return std::string("\x1b[") + kCodes[static_cast<std::size_t>(style)] + "m" + std::string(text) + "\x1b[0m";
}

std::string bar_text(double fraction, std::size_t width) {
  static constexpr std::array<const char*, 9> kEighths = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
  if (!std::isfinite(fraction)) fraction = 0;
  const auto eighths =
      static_cast<std::size_t>(std::lround(std::clamp(fraction, 0.0, 1.0) * static_cast<double>(width) * 8));
  std::string out;
  for (std::size_t i = 0; i < width; ++i) {
    const std::size_t filled = eighths > i * 8 ? std::min<std::size_t>(eighths - i * 8, 8) : 0;
    out += kEighths[filled];
  }
  return out;
}

Style heat(double fraction) {
  if (!(fraction >= kCold)) return Style::dim;
  if (fraction >= kHot) return Style::red;
  return fraction >= kWarm ? Style::yellow : Style::plain;
}

}  // namespace fathom
