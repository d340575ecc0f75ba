// Words of callgrind's lines: numbers, positions and names, read in place.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/name_table.hpp"
#include "base/text.hpp"

namespace fathom::callgrind {

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A decimal or hexadecimal number up to a blank or the end; moves behind it. False = it is none, or beyond 64 bits.
inline bool read_number(const char*& at, const char* end, std::uint64_t& value) {
  const char* const begin = at;
  value = 0;
  constexpr std::ptrdiff_t kAlwaysFit = 19;  // digits
  while (at < end && is_digit(*at)) value = value * 10 + static_cast<std::uint64_t>(*at++ - '0');
  if (at > begin && at - begin <= kAlwaysFit && (at == end || is_blank(*at))) return true;
  // Rare: hexadecimal, very long, or no number.
  while (at < end && !is_blank(*at)) ++at;
  std::string_view word(begin, static_cast<std::size_t>(at - begin));
  const bool hex = word.starts_with("0x") || word.starts_with("0X");
  const auto number = hex ? parse_integer<std::uint64_t>(word.substr(2), 16) : parse_integer<std::uint64_t>(word);
  value = number.value_or(0);
  return number.has_value();
}

// "5", "0x1f", "+3", "-2" or "*". Costs of the lines of a function are summed, so that where they stand is not kept.
inline bool skip_position(const char*& at, const char* end) {
  if (at < end && *at == '*') {
    ++at;
    return at == end || is_blank(*at);
  }
  if (at < end && (*at == '+' || *at == '-')) ++at;
  std::uint64_t ignored = 0;
  return at < end && read_number(at, end, ignored);
}

inline void skip_blanks(const char*& at, const char* end) {
  while (at < end && is_blank(*at)) ++at;
}

inline std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> out;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (skip_blanks(at, end); at < end; skip_blanks(at, end)) {
    const char* const begin = at;
    while (at < end && !is_blank(*at)) ++at;
    out.emplace_back(begin, static_cast<std::size_t>(at - begin));
  }
  return out;
}

// Texts that are defined once with a number and named by it afterwards.
class Names {
 public:
  // "(3) text", "(3)" or a plain text; nothing when a number is used that has no text.
  std::optional<std::uint32_t> resolve(std::string_view word) {
    if (word.size() < 3 || word[0] != '(' || !is_digit(word[1])) return intern(word);
    std::uint64_t number = 0;
    std::size_t at = 1;
    for (; at < word.size() && is_digit(word[at]) && number < kMost; ++at) {
      number = number * 10 + static_cast<std::uint64_t>(word[at] - '0');
    }
    if (at >= word.size() || word[at] != ')') return intern(word);
    const std::string_view text = trim(word.substr(at + 1));
    std::uint32_t& known =
        number < kDense ? dense(number) : others_.try_emplace(number, NameTable::kNone).first->second;
    // Some writers repeat the text with every use.
    if (!text.empty() && (known == NameTable::kNone || texts_[known] != text)) known = texts_.add(text);
    if (known == NameTable::kNone) return std::nullopt;
    return known;
  }
  std::uint32_t intern(std::string_view text) { return texts_.add(text); }
  [[nodiscard]] const std::string& operator[](std::uint32_t id) const { return texts_[id]; }

 private:
  static constexpr std::uint64_t kMost = UINT64_MAX / 16;
  static constexpr std::uint64_t kDense = 1 << 16;

  std::uint32_t& dense(std::uint64_t number) {
    if (dense_.size() <= number) dense_.resize(number + number / 2 + 16, NameTable::kNone);
    return dense_[number];
  }

  NameTable texts_;
  std::vector<std::uint32_t> dense_;  // by number, of small ones
  std::unordered_map<std::uint64_t, std::uint32_t> others_;
};

}  // namespace fathom::callgrind
