#include "base/number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/text.hpp"
#include "base/time_unit.hpp"
#include "base/visible.hpp"

namespace fathom {

std::string exact_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return {buffer.data(), end};
}

std::string exact_text(Int128 value) {
  if (value == 0) return "0";
  const bool negative = value < 0;
  auto rest = static_cast<unsigned __int128>(value);
  if (negative) rest = -rest;
  std::string digits;
  for (; rest != 0; rest /= 10) digits += static_cast<char>('0' + static_cast<int>(rest % 10));
  if (negative) digits += '-';
  std::reverse(digits.begin(), digits.end());
  return digits;
}

std::string json_number(double value) {
  const std::string text = exact_text(value);
  return std::isfinite(value) ? text : '"' + text + '"';
}

namespace {

std::string scaled(double value, double step, std::string_view unit, const auto& prefixes) {
  std::size_t i = 0;
  double size = std::abs(value);
  while (size >= step && i + 1 < prefixes.size()) {
    size /= step;
    value /= step;
    ++i;
  }
  const int digits = i == 0 && value == std::floor(value) ? 0 : (size >= 100 ? 0 : (size >= 10 ? 1 : 2));
  const std::string_view blank = unit.empty() && std::string_view(prefixes[i]).empty() ? "" : " ";
  return fmt::format("{:.{}f}{}{}{}", value, digits, blank, prefixes[i], unit);
}

}  // namespace

std::string readable(double value, std::string_view unit) {
  if (!std::isfinite(value)) return exact_text(value);
  static constexpr std::array<const char*, 5> kBinary = {"", "Ki", "Mi", "Gi", "Ti"};
  static constexpr std::array<const char*, 5> kDecimal = {"", "k", "M", "G", "T"};
  static constexpr std::array<const char*, 4> kSeconds = {"n", "µ", "m", ""};
  // Times are shown in seconds, whatever unit the file counts in.
  if (const double second = seconds_per(unit); second > 0) {
    value *= second;
    if (value == 0) return "0 s";
    constexpr double kHour = 3600;
    if (std::abs(value) >= 1e15) return fmt::format("{:.3g} h", value / kHour);
    if (std::abs(value) >= 100 * kHour) {
      return fmt::format("{}{} h", value < 0 ? "-" : "", grouped(static_cast<std::uint64_t>(std::abs(value) / kHour)));
    }
    if (std::abs(value) >= 2 * kHour)
      return fmt::format("{:.{}f} h", value / kHour, std::abs(value) < 10 * kHour ? 2 : 1);
    if (std::abs(value) >= 1000) return fmt::format("{:.0f} s", value);
    if (std::abs(value) >= 1) return scaled(value, 1000, "s", std::array<const char*, 1>{""});
    return scaled(value * 1e9, 1000, "s", kSeconds);
  }
  if (equal_ignoring_case(unit, "bytes") || equal_ignoring_case(unit, "byte") || unit == "B") {
    return scaled(value, 1024, "B", kBinary);
  }
  // Units are what a file says.
  const std::string shown = unit == "occ" || unit == "#" || unit == "1" || unit == "count" ? "" : visible(unit);
  if (std::abs(value) < 1 && value != 0) return fmt::format("{:.3g}{}{}", value, shown.empty() ? "" : " ", shown);
  return scaled(value, 1000, shown, kDecimal);
}

std::string percent(double part, double whole) {
  if (whole == 0 || !std::isfinite(part / whole)) return "-";
  return fmt::format("{:.1f}%", part / whole * 100);
}

std::string grouped(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), ",");
  }
  return digits;
}

}  // namespace fathom
