#include "io/json_scanner.hpp"

#include <fmt/format.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <algorithm>
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

// The first of `"{}[]` from `at` on, or `end`.
const char* find_structural(const char* at, const char* end) {
  while (at < end && !kStructural[static_cast<unsigned char>(*at)]) ++at;
  return at;
}

constexpr std::size_t kBlock = 64;

// Bit i of each is about byte i of a block.
struct BlockMarks {
  std::uint64_t quotes = 0, escapes = 0, opening = 0, closing = 0;

  explicit BlockMarks(const char* at) {
#ifdef __SSE2__
    for (std::size_t i = 0; i < kBlock; i += 16) {
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + i));
      const __m128i curly =
          _mm_or_si128(bytes, _mm_set1_epi8(0x20));  // '[' and '{' differ in this bit, as do ']' and '}'
      const auto marks = [i](__m128i text, char c) {
        const auto found = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(text, _mm_set1_epi8(c))));
        return std::uint64_t{found} << i;
      };
      quotes |= marks(bytes, '"');
      escapes |= marks(bytes, '\\');
      opening |= marks(curly, '{');
      closing |= marks(curly, '}');
    }
#else
    for (std::size_t i = 0; i < kBlock; ++i) {
      const std::uint64_t bit = std::uint64_t{1} << i;
      const char curly = static_cast<char>(at[i] | 0x20);
      quotes |= at[i] == '"' ? bit : 0;
      escapes |= at[i] == '\\' ? bit : 0;
      opening |= curly == '{' ? bit : 0;
      closing |= curly == '}' ? bit : 0;
    }
#endif
  }
};

// Each bit becomes the parity of the bits up to it.
std::uint64_t parities(std::uint64_t bits) {
  for (unsigned shift = 1; shift < kBlock; shift *= 2) bits ^= bits << shift;
  return bits;
}

// The depth behind the brackets of a block that open and close by turns inside of a list; 0 = they do not.
std::uint64_t depth_behind(std::uint64_t depth, std::uint64_t opening, std::uint64_t closing) {
  if (depth == 0 || depth > 2) return 0;
  const std::uint64_t open = parities(opening | closing) ^ (depth == 2 ? ~std::uint64_t{0} : 0);
  if ((opening & ~open) != 0 || (closing & open) != 0) return 0;
  return open >> (kBlock - 1) != 0 ? 2 : 1;
}

// Behind the bracket that closes the one at `at`; null when there is none. Texts are passed over.
const char* behind_closing(const char* at, const char* end) {
  std::uint64_t depth = 0;
  bool in_text = false;
  bool escaped = false;
  while (at < end) {
    if (static_cast<std::size_t>(end - at) >= kBlock && !escaped) {
      BlockMarks marks(at);
      if (marks.escapes == 0) {
        if (marks.quotes != 0 || in_text) {
          const std::uint64_t inside = parities(marks.quotes) ^ (in_text ? ~std::uint64_t{0} : 0);
          in_text = inside >> (kBlock - 1) != 0;
          marks.opening &= ~inside;
          marks.closing &= ~inside;
        }
        if (const std::uint64_t behind = depth_behind(depth, marks.opening, marks.closing)) {
          depth = behind;
          at += kBlock;
          continue;
        }
        for (std::uint64_t left = marks.opening | marks.closing; left != 0; left &= left - 1) {
          const std::uint64_t first = left & -left;
          depth += (marks.opening & first) != 0 ? 1 : -1;
          if (depth == 0) return at + std::countr_zero(first) + 1;
        }
        at += kBlock;
        continue;
      }
    }
    // One by one, where something is escaped and at the end.
    const char* const until = at + std::min<std::ptrdiff_t>(end - at, kBlock);
    for (; at < until; ++at) {
      if (in_text) {
        if (*at == '"' && !escaped) in_text = false;
        escaped = *at == '\\' && !escaped;
        continue;
      }
      if (!kStructural[static_cast<unsigned char>(*at)]) continue;
      in_text = *at == '"';
      if (!in_text) depth += *at == '{' || *at == '[' ? 1 : -1;
      if (!in_text && depth == 0) return at + 1;
    }
  }
  return nullptr;
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
    if (const char* const behind = behind_closing(text_.data() + begin, end)) {
      at_ = static_cast<std::size_t>(behind - text_.data());
      return text_.substr(begin, at_ - begin);
    }
    // Once more, for what is not closed.
    do {
      at_ = static_cast<std::size_t>(find_structural(text_.data() + at_, end) - text_.data());
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
