#include "io/json_scanner.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>

#include "base/decimal.hpp"

namespace fathom {
namespace {

bool is_white(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

// Characters that matter outside strings when a value is passed over.
constexpr std::array<bool, 256> structural_table() {
  std::array<bool, 256> table{};
  for (const char c : {'"', '{', '}', '[', ']'}) table[static_cast<unsigned char>(c)] = true;
  return table;
}
constexpr auto kStructural = structural_table();

// The first of `"{}[]` from `at` on, or `end`. Eight bytes at a time: between brackets stand long numbers.
const char* find_structural(const char* at, const char* end) {
  constexpr std::uint64_t kEach = 0x0101010101010101;
  const auto has = [](std::uint64_t word, char c) {  // the lowest byte that is marked holds c
    const std::uint64_t zero = word ^ (kEach * static_cast<unsigned char>(c));
    return (zero - kEach) & ~zero & (kEach << 7);
  };
  for (; end - at >= 8; at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    const std::uint64_t curly = word | kEach * 0x20;  // '[' and '{' differ in this bit only, as do ']' and '}'
    const std::uint64_t found = has(curly, '{') | has(curly, '}') | has(word, '"');
    if (found != 0) return at + std::countr_zero(found) / 8;
  }
  while (at < end && !kStructural[static_cast<unsigned char>(*at)]) ++at;
  return at;
}

// Passes over brackets eight bytes at a time, as long as there are no quotes and the innermost `depth` that are open
// are not all closed.
const char* skip_brackets(const char* at, const char* end, std::uint64_t& depth) {
  constexpr std::uint64_t kEach = 0x0101010101010101;
  constexpr std::uint64_t kLow = kEach * 0x7F;
  const auto marks = [](std::uint64_t word, char c) {  // the highest bit of each byte that is c
    const std::uint64_t zero = word ^ (kEach * static_cast<unsigned char>(c));
    return ~(((zero & kLow) + kLow) | zero) & (kEach << 7);
  };
  const auto count = [](std::uint64_t marked) { return (marked >> 7) * kEach >> 56; };
  for (; end - at >= 8; at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    if (marks(word, '"') != 0) break;
    const std::uint64_t curly = word | kEach * 0x20;  // as above
    const std::uint64_t closing = count(marks(curly, '}'));
    if (closing >= depth) break;
    depth += count(marks(curly, '{')) - closing;
  }
  return at;
}

}  // namespace

void JsonScanner::skip_byte_order_mark() {
  if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
}

void JsonScanner::fail(std::string what) {
  if (!error_) error_ = Error(std::move(what), place());
}

char JsonScanner::peek() {
  if (error_) return 0;
  while (at_ < text_.size() && is_white(text_[at_])) ++at_;
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool JsonScanner::at_end() { return peek() == 0 && at_ >= text_.size(); }

bool JsonScanner::accept(char c) {
  if (peek() != c || at_ >= text_.size()) return false;
  ++at_;
  return true;
}

bool JsonScanner::expect(char c) {
  if (accept(c)) return true;
  if (error_) return false;
  fail(at_ >= text_.size() ? fmt::format("the file ends where '{}' is expected", c)
                           : fmt::format("expected '{}', found '{}'", c, text_[at_]));
  return false;
}

void JsonScanner::skip_string() {
  const std::size_t begin = at_++;
  while (at_ < text_.size()) {
    const char* quote = static_cast<const char*>(std::memchr(text_.data() + at_, '"', text_.size() - at_));
    if (quote == nullptr) break;
    const auto end = static_cast<std::size_t>(quote - text_.data());
    std::size_t slashes = 0;
    while (end - slashes > at_ && text_[end - slashes - 1] == '\\') ++slashes;
    at_ = end + 1;
    if (slashes % 2 == 0) return;
  }
  at_ = begin;
  fail("a string that starts here never ends");
}

std::optional<std::string_view> JsonScanner::next_key(bool& first) {
  if (accept('}')) return std::nullopt;
  if (!first && !expect(',')) return std::nullopt;
  first = false;
  if (peek() != '"') {
    fail("expected a key in quotes");
    return std::nullopt;
  }
  const std::size_t begin = at_ + 1;
  skip_string();
  if (error_) return std::nullopt;
  const std::string_view key = text_.substr(begin, at_ - 1 - begin);
  if (!expect(':')) return std::nullopt;
  return key;
}

bool JsonScanner::next_element(bool& first) {
  if (accept(']')) return false;
  if (!first && !expect(',')) return false;
  first = false;
  if (at_end()) fail("the file ends inside a list");
  return ok();
}

bool JsonScanner::accept_key(std::string_view key) {
  if (peek() != '"' || text_.size() - at_ < key.size() + 2) return false;
  const std::size_t begin = at_;
  if (text_.substr(at_ + 1, key.size()) == key && text_[at_ + 1 + key.size()] == '"') {
    at_ += key.size() + 2;
    if (accept(':')) return true;
    at_ = begin;
  }
  return false;
}

bool JsonScanner::accept_numbers(std::vector<double>& out) {
  if (error_) return false;
  const char* const end = text_.data() + text_.size();
  const auto white = [end](const char* at) {
    while (at < end && is_white(*at)) ++at;
    return at;
  };
  const std::size_t had = out.size();
  const char* at = white(text_.data() + at_);
  char before = at < end ? *at : '\0';
  for (char wanted = '['; before == wanted; wanted = ',') {
    double number = 0;
    const char* const to = read_decimal(white(at + 1), end, number);
    if (to == nullptr) break;
    out.push_back(number);
    at = white(to);
    before = at < end ? *at : '\0';
  }
  if (before == ']' && out.size() > had) {
    at_ = static_cast<std::size_t>(at + 1 - text_.data());
    return true;
  }
  out.resize(had);
  return false;
}

std::string_view JsonScanner::skip_value() {
  const char c = peek();
  const std::size_t begin = at_;
  if (error_) return {};
  if (c == '"') {
    skip_string();
  } else if (c == '{' || c == '[') {
    std::uint64_t depth = 0;
    const char* const end = text_.data() + text_.size();
    do {
      const char* const from = depth > 0 ? skip_brackets(text_.data() + at_, end, depth) : text_.data() + at_;
      at_ = static_cast<std::size_t>(find_structural(from, end) - text_.data());
      if (at_ >= text_.size()) {
        at_ = begin;
        fail(fmt::format("the '{}' here is never closed; the file may be cut off", c));
        return {};
      }
      const char s = text_[at_];
      if (s == '"') {
        skip_string();
        if (error_) return {};
        continue;
      }
      depth += s == '{' || s == '[' ? 1 : -1;
      ++at_;
    } while (depth > 0);
  } else {
    while (at_ < text_.size() && !is_white(text_[at_]) && text_[at_] != ',' && text_[at_] != '}' && text_[at_] != ']') {
      ++at_;
    }
    if (at_ == begin) fail("expected a value");
  }
  return error_ ? std::string_view{} : text_.substr(begin, at_ - begin);
}

std::optional<std::string> json_unescape(std::string_view raw) {
  if (raw.find('\\') == std::string_view::npos) return std::string(raw);
  const auto hex4 = [&](std::size_t at) -> std::optional<std::uint32_t> {
    if (at + 4 > raw.size()) return std::nullopt;
    std::uint32_t value = 0;
    for (std::size_t i = at; i < at + 4; ++i) {
      const char c = raw[i];
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) return std::nullopt;
      value = value * 16 + static_cast<std::uint32_t>(digit);
    }
    return value;
  };
  std::string out;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\') {
      out += raw[i];
      continue;
    }
    if (++i == raw.size()) return std::nullopt;
    constexpr std::string_view kFrom = "\"\\/bfnrt";
    constexpr std::string_view kTo = "\"\\/\b\f\n\r\t";
    if (const auto simple = kFrom.find(raw[i]); simple != std::string_view::npos) {
      out += kTo[simple];
      continue;
    }
    if (raw[i] != 'u') return std::nullopt;
    auto code = hex4(i + 1);
    if (!code) return std::nullopt;
    i += 4;
    if (*code >= 0xD800 && *code < 0xDC00 && raw.substr(i + 1).starts_with("\\u")) {
      if (const auto low = hex4(i + 3); low && *low >= 0xDC00 && *low < 0xE000) {
        code = 0x10000 + ((*code - 0xD800) << 10) + (*low - 0xDC00);
        i += 6;
      }
    }
    if (*code >= 0xD800 && *code < 0xE000) code = 0xFFFD;  // half of a pair
    const std::uint32_t u = *code;
    if (u < 0x80) {
      out += static_cast<char>(u);
    } else if (u < 0x800) {
      out += static_cast<char>(0xC0 | u >> 6);
      out += static_cast<char>(0x80 | (u & 0x3F));
    } else if (u < 0x10000) {
      out += static_cast<char>(0xE0 | u >> 12);
      out += static_cast<char>(0x80 | (u >> 6 & 0x3F));
      out += static_cast<char>(0x80 | (u & 0x3F));
    } else {
      out += static_cast<char>(0xF0 | u >> 18);
      out += static_cast<char>(0x80 | (u >> 12 & 0x3F));
      out += static_cast<char>(0x80 | (u >> 6 & 0x3F));
      out += static_cast<char>(0x80 | (u & 0x3F));
    }
  }
  return out;
}

}  // namespace fathom
