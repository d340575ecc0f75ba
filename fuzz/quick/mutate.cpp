#include "mutate.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

namespace fathom {

namespace {

struct Range {
  std::size_t begin = 0;
  std::size_t size = 0;
};

// A range inside of `size` bytes, mostly a short one.
Range some_range(std::size_t size, Dice& dice) {
  if (size == 0) return {};
  const std::size_t longest = dice.below(4) == 0 ? size : std::min<std::size_t>(size, 16);
  const std::size_t length = 1 + dice.below(longest);
  return {dice.below(size - length + 1), length};
}

// Numbers at which readers go wrong: limits of types, and counts that are one off.
std::uint64_t special_number(std::size_t size, Dice& dice) {
  const unsigned bit = static_cast<unsigned>(dice.below(64));
  switch (dice.below(6)) {
    case 0:
      return dice.below(4);
    case 1:
      return ~std::uint64_t{0} - dice.below(4);
    case 2:
      return (std::uint64_t{1} << bit) - dice.below(2);
    case 3:
      return size - std::min<std::size_t>(size, dice.below(9));
    case 4:
      return static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) >> (bit / 16 * 16);
    default:
      return dice.next() >> bit;
  }
}

void put_number(std::string& bytes, Dice& dice) {
  const std::size_t width = std::size_t{1} << dice.below(4);
  if (bytes.size() < width) return;
  char* const at = bytes.data() + dice.below(bytes.size() - width + 1);
  const bool big = dice.below(2) == 0;
  std::uint64_t value = 0;
  std::array<char, 8> raw{};
  const auto turn = [&] {
    if (big) std::reverse(raw.begin(), raw.begin() + static_cast<std::ptrdiff_t>(width));
  };
  if (dice.below(2) == 0) {
    value = special_number(bytes.size(), dice);
  } else {
    std::memcpy(raw.data(), at, width);
    turn();
    std::memcpy(&value, raw.data(), sizeof value);
    value += dice.below(71) - std::uint64_t{35};
  }
  std::memcpy(raw.data(), &value, sizeof value);
  turn();
  std::memcpy(at, raw.data(), width);
}

// Another number in the place of one that is written in digits.
void put_digits(std::string& bytes, std::size_t most, Dice& dice) {
  constexpr std::array<std::string_view, 12> kTexts = {
      "0",   "-1",   "1",  "18446744073709551615", "-9223372036854775808", "4294967296", "1e308", "1e-320", "nan",
      "inf", "0x10", "1.5"};
  if (bytes.empty()) return;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto from = bytes.begin() + static_cast<std::ptrdiff_t>(dice.below(bytes.size()));
  const auto begin = std::find_if(from, bytes.end(), is_digit);
  if (begin == bytes.end()) return;
  const auto end = std::find_if_not(begin, bytes.end(), is_digit);
  const std::string text =
      dice.below(2) == 0 ? std::string(kTexts[dice.below(kTexts.size())]) : std::to_string(special_number(16, dice));
  if (bytes.size() - static_cast<std::size_t>(end - begin) + text.size() <= most) bytes.replace(begin, end, text);
}

void insert(std::string& bytes, std::size_t most, std::string_view more, Dice& dice) {
  if (more.size() > most - bytes.size()) more = more.substr(0, most - bytes.size());
  bytes.insert(dice.below(bytes.size() + 1), more);
}

void overwrite(std::string& bytes, std::string_view with, Dice& dice) {
  if (bytes.empty()) return;
  const std::size_t at = dice.below(bytes.size());
  with = with.substr(0, bytes.size() - at);
  std::copy(with.begin(), with.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
}

std::string some_of(std::string_view bytes, Dice& dice) {
  const Range range = some_range(bytes.size(), dice);
  return std::string(bytes.substr(range.begin, range.size));
}

char some_byte(Dice& dice) {
  constexpr std::string_view kMarks("\0\xFF\x7F\x80 \n\t\"',:;=()[]{}<>/\\+-.*#@$%&|_0123456789aAzZ", 50);
  return dice.below(2) == 0 ? kMarks[dice.below(kMarks.size())] : static_cast<char>(dice.below(256));
}

}  // namespace

void mutate(std::string& bytes, std::size_t most, std::string_view other, Dice& dice) {
  if (bytes.size() > most) bytes.resize(most);
  if (bytes.empty()) {
    if (most > 0) bytes.push_back(some_byte(dice));
    return;
  }
  char& one = bytes[dice.below(bytes.size())];
  switch (dice.below(12)) {
    case 0:
      one = static_cast<char>(one ^ (1 << dice.below(8)));
      return;
    case 1:
    case 2:
      one = some_byte(dice);
      return;
    case 3:
    case 4:
      return put_number(bytes, dice);
    case 5:
      return put_digits(bytes, most, dice);
    case 6: {
      const Range range = some_range(bytes.size(), dice);
      bytes.erase(range.begin, range.size);
      return;
    }
    case 7:
      return insert(bytes, most, std::string(1 + dice.below(dice.below(8) == 0 ? 128 : 8), some_byte(dice)), dice);
    case 8:
      return insert(bytes, most, some_of(bytes, dice), dice);
    case 9:
      return overwrite(bytes, some_of(bytes, dice), dice);
    case 10:
      return insert(bytes, most, some_of(other, dice), dice);
    default:
      return overwrite(bytes, some_of(other, dice), dice);
  }
}

}  // namespace fathom
