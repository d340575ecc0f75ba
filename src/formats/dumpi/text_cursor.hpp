// A place in a text that is read from front to back, and what is wrong there.
#pragma once

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "io/blob.hpp"

namespace fathom::dumpi {

struct TextCursor {
  explicit TextCursor(const Blob& blob) : source(blob), text(blob.text()) {}

  Blob source;
  std::string_view text;
  std::size_t at = 0;

  [[nodiscard]] bool at_end() const { return at >= text.size(); }
  // What is expected at the cursor; moves behind it.
  bool take(std::string_view expected) {
    if (!text.substr(at).starts_with(expected)) return false;
    at += expected.size();
    return true;
  }
  template <class Int>
  bool take_number(Int& value) {
    const auto [end, status] = std::from_chars(text.data() + at, text.data() + text.size(), value);
    if (status != std::errc{}) return false;
    at = static_cast<std::size_t>(end - text.data());
    return true;
  }
  // A quoted text that ends where a quote and then `next` stand: it may hold quotes and newlines itself.
  bool take_string(std::string_view& out, std::string_view next) {
    if (!take("\"")) return false;
    for (std::size_t end = text.find('"', at); end != std::string_view::npos; end = text.find('"', end + 1)) {
      if (!text.substr(end + 1).starts_with(next)) continue;
      out = text.substr(at, end - at);
      at = end + 1;
      return true;
    }
    return false;
  }
  std::string_view rest_of_line() {
    const auto end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = std::min(end + 1, text.size());
    return line;
  }
  [[nodiscard]] std::string_view peek_line() const { return text.substr(at, text.find('\n', at) - at); }
  [[nodiscard]] Error error(const std::string& what) const;
};

}  // namespace fathom::dumpi
