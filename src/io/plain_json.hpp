// Long lists of JSON, spelt in the usual way, at the speed of their text: numbers, brackets, short names. Whatever is
// not accepted here is no error: a JSON parser has to look at it. What is accepted has the value that it would find.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/digits.hpp"
#include "base/parallel.hpp"
#include "base/pipeline.hpp"

namespace fathom {

struct JsonNumber {
  std::int64_t integer = 0;  // where it is not real
  double value = 0;
  bool real = false;
};

class PlainJson {
 public:
  explicit PlainJson(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  [[nodiscard]] const char* at() const { return at_; }
  [[nodiscard]] const char* end() const { return end_; }
  void go_to(const char* at) { at_ = at; }

  // Consumes `c` when it comes next, white space in front of it or not.
  bool accept(char c) {
    if (at_ < end_ && *at_ == c) {
      ++at_;
      return true;
    }
    skip_white();
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  bool accept(std::string_view word) {
    skip_white();
    if (static_cast<std::size_t>(end_ - at_) < word.size() || std::string_view(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  // Nothing is left.
  bool at_end() {
    skip_white();
    return at_ == end_;
  }

  // A number without sign, fraction and exponent that has at most 8 digits.
  bool natural(std::uint32_t& number) {
    skip_white();
    if (static_cast<std::size_t>(end_ - at_) <= kDigitsRead) return short_natural(number);
    const Digits digits = read_digits(at_);
    if (!is_whole(at_, digits.count)) return false;
    number = static_cast<std::uint32_t>(digits.value);
    at_ += digits.count;
    return true;
  }
  bool number(JsonNumber& number) {
    skip_white();
    return short_number(number) || any_number(number);
  }
  // A text without escapes, all of it ASCII.
  bool text(std::string_view& text);

  void skip_white() {
    while (at_ < end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) ++at_;
  }

 private:
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  // Digits that begin at `at`, and one character behind them at least is there.
  static bool is_whole(const char* at, unsigned count) {
    if (count == 0 || (*at == '0' && count > 1)) return false;
    const char behind = at[count];
    return !is_digit(behind) && behind != '.' && behind != 'e' && behind != 'E';
  }
  bool short_natural(std::uint32_t& number);
  // Less than eight digits, and as many behind a point: what most numbers are, without a loop.
  bool short_number(JsonNumber& number) {
    constexpr double kPowers[kDigitsRead] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7};
    constexpr std::uint64_t kTens[kDigitsRead] = {1, 10, 100, 1000, 10'000, 100'000, 1'000'000, 10'000'000};
    if (static_cast<std::size_t>(end_ - at_) < 2 * kDigitsRead) return false;
    const Digits whole = read_digits(at_);
    if (whole.count == kDigitsRead) return false;
    number.real = at_[whole.count] == '.';
    if (!number.real) {
      if (!is_whole(at_, whole.count)) return false;
      number.integer = static_cast<std::int64_t>(whole.value);
      number.value = static_cast<double>(whole.value);
      at_ += whole.count;
      return true;
    }
    const char* const fraction = at_ + whole.count + 1;
    const Digits decimals = read_digits(fraction);
    const char behind = fraction[decimals.count % kDigitsRead];
    if (whole.count == 0 || (*at_ == '0' && whole.count > 1) || decimals.count == 0 || decimals.count == kDigitsRead ||
        behind == 'e' || behind == 'E') {
      return false;
    }
    // Both are exact, so that the quotient is the number that is nearest to what is written.
    number.value = static_cast<double>(whole.value * kTens[decimals.count] + decimals.value) / kPowers[decimals.count];
    at_ = fraction + decimals.count;
    return true;
  }
  bool any_number(JsonNumber& number);

  const char* at_;
  const char* end_;
};

// A list cut into pieces of about so many bytes, each some of its elements with commas between them; all of them begin
// and end with these brackets. It is cut where that looks so: elements that are plain have no such place inside of
// them.
std::vector<std::string_view> cut_list(std::string_view list, char open, char close, std::size_t bytes);

// The pieces of a list read by all threads and taken in order, few of them at a time: read(piece, text) and take(piece)
// say whether it is plain. Ends where it is not, and says so.
template <class Piece, class Read, class Take>
Result<bool> each_plain_piece(std::string_view list, char open, char close, Read&& read, Take&& take) {
  constexpr std::size_t kBytes = std::size_t{1} << 18;
  const std::vector<std::string_view> texts = cut_list(list, open, close, kBytes);
  if (texts.empty()) return true;
  struct Slot {
    Piece piece;
    std::string_view text;
    bool plain = false;
  };
  std::vector<Slot> slots(thread_count() == 1 ? 1 : std::size_t{2} * thread_count());
  std::size_t next = 0;
  bool plain = true;
  FATHOM_CHECK(run_pipeline(
      slots.size(),
      [&](std::size_t i) -> Result<bool> {
        slots[i].text = texts[next++];
        return next < texts.size();
      },
      [&](std::size_t i) -> Result<void> {
        slots[i].plain = read(slots[i].piece, slots[i].text);
        return {};
      },
      [&](std::size_t i) -> Result<bool> {
        plain = slots[i].plain;
        if (!plain) return false;
        FATHOM_TRY(plain, take(slots[i].piece));
        return plain;
      }));
  return plain;
}

}  // namespace fathom
