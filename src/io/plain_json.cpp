#include "io/plain_json.hpp"

#include <algorithm>
#include <charconv>

#include "base/decimal.hpp"

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
  const char* const to = read_decimal(at_, end_, number.value);
  if (to == nullptr) return false;
  number.real = std::any_of(at_, to, [](char c) { return c == '.' || c == 'e' || c == 'E'; });
  if (!number.real) {
    // Beyond 64 bits it is for the parser to judge.
    if (std::from_chars(at_, to, number.integer).ec != std::errc{}) return false;
    number.value = static_cast<double>(number.integer);  // -0 is 0
  }
  at_ = to;
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
