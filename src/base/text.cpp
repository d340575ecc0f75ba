#include "base/text.hpp"

#include <cxxabi.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <memory>

#include "base/decimal.hpp"
#include "base/utf8.hpp"

namespace fathom {

std::string_view trim(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };  // \t \n \v \f \r
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string to_lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() && to_lower(a) == to_lower(b);
}

std::optional<double> parse_double(std::string_view text) {
  if (text.starts_with("+") && !text.starts_with("+-")) text.remove_prefix(1);
  const char* const end = text.data() + text.size();
  double value = 0;
  if (!text.empty() && read_decimal(text.data(), end, value) == end) return value;
  const auto [stop, status] = std::from_chars(text.data(), end, value);
  if (status != std::errc{} || stop != end || text.empty()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  text = trim(text);
  double factor = 1;
  constexpr std::string_view kUnits = "kmgt";
  while (!text.empty() && std::isalpha(static_cast<unsigned char>(text.back())) != 0) {
    const char unit = static_cast<char>(std::tolower(static_cast<unsigned char>(text.back())));
    text.remove_suffix(1);
    if (unit == 'b' || unit == 'i') continue;
    const auto power = kUnits.find(unit);
    if (power == std::string_view::npos || factor != 1) return std::nullopt;
    for (std::size_t i = 0; i <= power; ++i) factor *= 1024;
  }
  const auto number = parse_double(trim(text));
  constexpr double kMax = 9.0e18;
  if (!number || !(*number >= 0) || *number * factor > kMax) return std::nullopt;
  return static_cast<std::uint64_t>(*number * factor);
}

bool is_pattern(std::string_view text) { return text.find_first_of("*?") != std::string_view::npos; }

bool matches_pattern(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t]) && pattern[p] != '*') {
      ++p;
      ++t;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

constexpr std::size_t kLongestCompared = 200;  // edit distance is quadratic

}  // namespace

std::string_view nearest(std::string_view name, std::span<const std::string> candidates) {
  if (name.empty() || name.size() > kLongestCompared) return {};
  const std::string wanted = to_lower(name);
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(2, name.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongestCompared) continue;
    const std::string lower = to_lower(candidate);
    std::size_t distance = edit_distance(wanted, lower);
    if (wanted.size() >= 3 && lower.find(wanted) != std::string::npos) distance = std::min<std::size_t>(distance, 1);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view name, std::span<const std::string> candidates) {
  const auto near = nearest(name, candidates);
  return near.empty() ? std::string() : fmt::format(" (did you mean '{}'?)", near);
}

std::string some_of(std::span<const std::string> names, std::size_t most) {
  if (names.size() <= most) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{} and {} more", fmt::join(names.first(most), ", "), names.size() - most);
}

std::string demangle(const std::string& symbol) {
  if (!symbol.starts_with("_Z")) return symbol;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 && text ? std::string(text.get()) : symbol;
}

namespace {

// Replaces what stands between each outermost pair of brackets by an ellipsis.
std::string elide_brackets(std::string_view name, char open, char close) {
  std::string out;
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool is_operator = i >= 8 && name.substr(0, i).ends_with("operator");
    const bool is_arrow = c == '>' && i > 0 && (name[i - 1] == '-' || name[i - 1] == '=');
    if (c == open && !is_operator && !(i > 0 && name[i - 1] == open && depth == 0 && name[i] == '<')) {
      if (depth++ == 0) {
        out += c;
        if (i + 1 < name.size() && name[i + 1] != close) out += "…";
      }
    } else if (c == close && depth > 0 && !is_arrow) {
      if (--depth == 0) out += c;
    } else if (depth == 0) {
      out += c;
    }
  }
  return depth == 0 ? out : std::string(name);
}

}  // namespace

std::string shorten_name(std::string_view name, std::size_t width) {
  if (display_width(name) <= width) return std::string(name);
  std::string shorter = elide_brackets(name, '<', '>');
  if (display_width(shorter) > width) shorter = elide_brackets(shorter, '(', ')');
  return fit(shorter, width);
}

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string fit(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return {};
  std::size_t columns = 0;
  std::size_t end = 0;
  while (end < text.size()) {
    if ((static_cast<unsigned char>(text[end]) & 0xC0) != 0x80 && ++columns == width) break;
    ++end;
  }
  return std::string(text.substr(0, end)) + "…";
}

std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : static_cast<unsigned char>(0);
  };
  const auto continues = [&](std::size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const unsigned char b = byte(0);
  if (b < 0x80) return 1;
  if (b >= 0xC2 && b <= 0xDF) return continues(1) ? 2 : 0;
  if (b >= 0xE0 && b <= 0xEF) {
    if ((b == 0xE0 && byte(1) < 0xA0) || (b == 0xED && byte(1) > 0x9F)) return 0;
    return continues(1) && continues(2) ? 3 : 0;
  }
  if (b >= 0xF0 && b <= 0xF4) {
    if ((b == 0xF0 && byte(1) < 0x90) || (b == 0xF4 && byte(1) > 0x8F)) return 0;
    return continues(1) && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

std::string json_quote(std::string_view text) {
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    const std::size_t length = utf8_length(text, i);
    if (length == 0) {
      out += "\xEF\xBF\xBD";
      ++i;
      continue;
    }
    if (length > 1) {
      out += text.substr(i, length);
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else {
      out += c;
    }
    i += length;
  }
  return out + '"';
}

std::string csv_quote(std::string_view text) {
  const bool quoted = text.find_first_of(",\"\r\n") != std::string_view::npos;
  std::string out(quoted ? "\"" : "");
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text, i);
    if (length == 0) {
      out += "\xEF\xBF\xBD";
      ++i;
      continue;
    }
    if (text[i] == '"') out += '"';
    out += text.substr(i, length);
    i += length;
  }
  if (quoted) out += '"';
  return out;
}

std::string xml_escape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text, i);
    const char c = text[i];
    const std::string_view character = text.substr(i, length);
    // U+FFFE and U+FFFF are none that XML may have.
    if (length == 0 || character == "\xEF\xBF\xBE" || character == "\xEF\xBF\xBF") {
      out += "\xEF\xBF\xBD";
    } else if (length > 1) {
      out += character;
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (c == '\'') {
      out += "&apos;";
    } else {
      // XML has no room for control characters.
      out += static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r' ? '?' : c;
    }
    i += std::max<std::size_t>(length, 1);
  }
  return out;
}

}  // namespace fathom
