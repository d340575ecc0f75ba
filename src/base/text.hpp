// Text helpers shared by all formats and commands.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

std::string_view trim(std::string_view text);
// The pieces are views of the text, so it must outlive them: a temporary string is refused.
std::vector<std::string_view> split(std::string_view text, char separator);
template <class Text>
  requires std::same_as<Text, std::string>
std::vector<std::string_view> split(Text&& text, char separator) = delete;
std::string to_lower(std::string_view text);
bool equal_ignoring_case(std::string_view a, std::string_view b);

// The whole text as a number, or nothing: no blanks, no sign on unsigned, no rest.
template <class Int>
std::optional<Int> parse_integer(std::string_view text, int base = 10) {
  Int value{};
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (status != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}
std::optional<double> parse_double(std::string_view text);
// "512", "64K", "1.5G": bytes, powers of 1024.
std::optional<std::uint64_t> parse_size(std::string_view text);

// Shell pattern with * and ?; a pattern without either must match the whole text.
bool matches_pattern(std::string_view pattern, std::string_view text);
bool is_pattern(std::string_view text);

// The candidate nearest to a mistyped name, or "" when none is near.
std::string_view nearest(std::string_view name, std::span<const std::string> candidates);
// " (did you mean 'x'?)" or "".
std::string did_you_mean(std::string_view name, std::span<const std::string> candidates);

// "a, b and 3 more": so many of the names at most.
std::string some_of(std::span<const std::string> names, std::size_t most = 10);

// A C++ symbol as its source spells it; other texts unchanged.
std::string demangle(const std::string& symbol);
// Replaces template arguments and parameter lists by … until the name fits: "a::f<…>(…)".
std::string shorten_name(std::string_view name, std::size_t width);

// Terminal columns that a UTF-8 text takes (code points; no wide or combining characters are expected).
std::size_t display_width(std::string_view text);
// Cuts to `width` columns, ending in … when something was cut.
std::string fit(std::string_view text, std::size_t width);

std::string json_quote(std::string_view text);  // invalid UTF-8 becomes U+FFFD
std::string csv_quote(std::string_view text);   // quotes only when needed; what is no UTF-8 becomes U+FFFD
std::string xml_escape(std::string_view text);

}  // namespace fathom
