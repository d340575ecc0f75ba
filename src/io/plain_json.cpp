#include "io/plain_json.hpp"

#include <charconv>
#include <cmath>
#include <iterator>

namespace fathom {

bool PlainJson::short_natural(std::uint32_t& number) {
  unsigned count = 0;
  std::uint32_t value = 0;
  while (at_ + count < end_ && count <= kDigitsRead && is_digit(at_[count])) {
    value = value * 10 + static_cast<std::uint32_t>(at_[count++] - '0');
  }
  // What ends with the text may go on behind it.
  if (count > kDigitsRead || at_ + count == end_ || !is_whole(at_, count)) return false;
  number = value;
  at_ += count;
  return true;
}

bool PlainJson::any_number(JsonNumber& number) {
  constexpr std::ptrdiff_t kAlwaysFit = 18;  // digits, into 64 bits
  constexpr std::uint64_t kExact = std::uint64_t{1} << 53;
  constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
                                1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};
  const bool negative = at_ < end_ && *at_ == '-';
  const char* const first = at_ + (negative ? 1 : 0);
  const char* at = first;
  std::uint64_t digits = 0;
  const auto read = [&] {
    const char* const begin = at;
    while (end_ - at > static_cast<std::ptrdiff_t>(kDigitsRead) && at - first <= kAlwaysFit) {
      const Digits some = read_digits(at);
      constexpr std::uint64_t kTens[] = {1, 10, 100, 1000, 10'000, 100'000, 1'000'000, 10'000'000, 100'000'000};
      if (at + some.count - first <= kAlwaysFit + 1) {
        digits = digits * kTens[some.count] + some.value;
      }
      at += some.count;
      if (some.count < kDigitsRead) return at - begin;
    }
    for (; at < end_ && is_digit(*at); ++at) {
      if (at - first < kAlwaysFit + 1) digits = digits * 10 + static_cast<std::uint64_t>(*at - '0');
    }
    return at - begin;
  };
  const std::ptrdiff_t whole = read();
  if (whole == 0 || (*first == '0' && whole > 1)) return false;
  std::ptrdiff_t decimals = 0;
  number.real = at < end_ && *at == '.';
  if (number.real) {
    ++at;
    decimals = read();
    if (decimals == 0) return false;
  }
  const bool has_exponent = at < end_ && (*at == 'e' || *at == 'E');
  const bool fits = at - first <= kAlwaysFit + (number.real ? 1 : 0);
  if (!number.real && !has_exponent) {
    if (!fits) return false;
    number.integer = negative ? -static_cast<std::int64_t>(digits) : static_cast<std::int64_t>(digits);
    number.value = static_cast<double>(number.integer);
  } else if (!has_exponent && fits && digits <= kExact) {
    // As in short_number.
    const double value = static_cast<double>(digits) / kPowers[decimals];
    number.value = negative ? -value : value;
  } else {
    const auto [to, status] = std::from_chars(at_, end_, number.value);
    if (status != std::errc{} || !std::isfinite(number.value) || to < at || (has_exponent && to == at)) return false;
    number.real = true;
    at = to;
  }
  at_ = at;
  return true;
}

bool PlainJson::text(std::string_view& text) {
  if (!accept('"')) return false;
  const char* const begin = at_;
  const auto is_plain = [](char c) {
    return c >= ' ' && static_cast<unsigned char>(c) < 0x80 && c != '"' && c != '\\';
  };
  while (at_ < end_ && is_plain(*at_)) ++at_;
  if (at_ == end_ || *at_ != '"') return false;
  text = {begin, static_cast<std::size_t>(at_ - begin)};
  ++at_;
  return true;
}

std::vector<std::string_view> cut_list(std::string_view list, char open, char close, std::size_t bytes) {
  std::vector<std::string_view> pieces;
  if (list.size() < 2) return pieces;
  list = list.substr(1, list.size() - 2);
  if (PlainJson(list).at_end()) return pieces;
  for (std::size_t from = bytes; from < list.size();) {
    const std::size_t end = list.find(close, from);
    if (end == std::string_view::npos) break;
    from = end + 1;
    PlainJson behind(list.substr(from));
    if (!behind.accept(',')) continue;
    behind.skip_white();
    const char* const next = behind.at();
    if (!behind.accept(open)) continue;
    pieces.push_back(list.substr(0, from));
    list.remove_prefix(static_cast<std::size_t>(next - list.data()));
    from = bytes;
  }
  pieces.push_back(list);
  return pieces;
}

}  // namespace fathom
