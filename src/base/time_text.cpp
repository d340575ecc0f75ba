#include "base/time_text.hpp"

#include <utility>

#include "base/text.hpp"

namespace fathom {

std::optional<std::int64_t> parse_time_ns(std::string_view text, std::int64_t unit_ns) {
  text = trim(text);
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  for (const auto& [suffix, unit] :
       {std::pair<std::string_view, std::int64_t>{"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}}) {
    if (!text.ends_with(suffix)) continue;
    text.remove_suffix(suffix.size());
    unit_ns = unit;
    break;
  }
  const auto dot = text.find('.');
  const std::string_view whole = text.substr(0, dot);
  const std::string_view fraction = dot == std::string_view::npos ? std::string_view{} : text.substr(dot + 1);
  const auto is_digits = [](std::string_view digits) {
    return digits.find_first_not_of("0123456789") == std::string_view::npos;
  };
  if ((whole.empty() && fraction.empty()) || !is_digits(whole) || !is_digits(fraction)) return std::nullopt;
  const auto units = whole.empty() ? std::optional<std::int64_t>(0) : parse_integer<std::int64_t>(whole);
  std::int64_t result = 0;
  if (!units || __builtin_mul_overflow(*units, unit_ns, &result)) return std::nullopt;
  std::int64_t place = unit_ns;
  for (const char digit : fraction) {
    place /= 10;
    if (__builtin_add_overflow(result, place * (digit - '0'), &result)) return std::nullopt;
  }
  return negative ? -result : result;
}

}  // namespace fathom
