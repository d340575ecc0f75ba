#include "formats/chrome/event_text.hpp"

#include <charconv>
#include <cmath>

#include "base/text.hpp"
#include "io/json_scanner.hpp"

namespace fathom::chrome {

std::string_view plain(std::string_view token) {
  while (!token.empty() &&
         (token.back() == ' ' || token.back() == '\n' || token.back() == '\r' || token.back() == '\t')) {
    token.remove_suffix(1);
  }
  if (token.size() >= 2 && token.front() == '"' && token.back() == '"') return token.substr(1, token.size() - 2);
  return token;
}

std::string unescaped(std::string_view raw) {
  auto text = json_unescape(raw);
  return text ? *std::move(text) : std::string(raw);
}

std::optional<std::int64_t> nanoseconds(std::string_view token) {
  constexpr std::int64_t kMost = std::int64_t{1} << 62;
  const std::string_view text = plain(token);
  std::size_t at = 0;
  const bool negative = at < text.size() && text[at] == '-';
  if (negative) ++at;
  std::int64_t whole = 0;
  const std::size_t first = at;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
    if (whole > kMost / 10000) return std::nullopt;
    whole = whole * 10 + (text[at] - '0');
  }
  if (at == first) return std::nullopt;
  std::int64_t fraction = 0;
  if (at < text.size() && text[at] == '.') {
    ++at;
    int digits = 0;
    bool up = false;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, ++digits) {
      if (digits < 3) fraction = fraction * 10 + (text[at] - '0');
      if (digits == 3) up = text[at] >= '5';
    }
    for (; digits < 3; ++digits) fraction *= 10;
    if (up) ++fraction;
  }
  if (at < text.size()) {
    const auto number = parse_double(text);
    if (!number || !std::isfinite(*number) || std::abs(*number) > 4e15) return std::nullopt;
    return std::llround(*number * 1000);
  }
  const std::int64_t value = whole * 1000 + fraction;
  return negative ? -value : value;
}

void each_member(std::string_view text, const std::function<void(std::string_view, std::string_view)>& take) {
  JsonScanner scanner(Blob({}, as_bytes(text), nullptr));
  if (!scanner.expect('{')) return;
  bool first = true;
  while (const auto key = scanner.next_key(first)) {
    const std::string_view value = scanner.skip_value();
    if (!scanner.ok()) return;
    take(*key, value);
  }
}

}  // namespace fathom::chrome
