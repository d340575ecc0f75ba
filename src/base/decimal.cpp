#include "base/decimal.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <optional>

#include "base/digits.hpp"

namespace fathom {
namespace {

// A negative power of ten as mantissa × 2^exponent. The mantissa has its highest bit set; what does not fit is cut off.
struct PowerOfTen {
  std::uint64_t mantissa = 0;
  int exponent = 0;
};

constexpr auto kPowersOfTen = [] {
  std::array<PowerOfTen, 2 * kDigitsRead + 1> powers{};
  powers[0] = {std::uint64_t{1} << 63, -63};
  std::uint64_t five = 1;
  for (int q = 1; q < static_cast<int>(powers.size()); ++q) {
    five *= 5;
    const int shift = 127 - std::countl_zero(five);
    powers[static_cast<std::size_t>(q)] = {
        static_cast<std::uint64_t>((static_cast<unsigned __int128>(1) << shift) / five), -q - shift};
  }
  return powers;
}();

// The double nearest to `digits` of which so many stand behind the point. Nothing where 64 bits of the product do not
// say on which side of the middle between two doubles it lies, about once in a thousand times.
std::optional<double> nearest(std::uint64_t digits, unsigned behind) {
  if (digits == 0) return 0;
  const PowerOfTen& power = kPowersOfTen[behind];
  const int shift = std::countl_zero(digits);
  const auto product = static_cast<unsigned __int128>(digits << shift) * power.mantissa;
  // With what was cut off of the power and of the product, the true value is less than 2 above this.
  const auto high = static_cast<std::uint64_t>(product >> 64);
  const int surplus = 10 + static_cast<int>(high >> 63);  // bits beyond the 53 of a double
  const std::uint64_t middle = std::uint64_t{1} << (surplus - 1);
  const std::uint64_t rest = high & (2 * middle - 1);
  if (middle - rest <= 1) return std::nullopt;  // no branch for above and below, which are equally likely
  const std::uint64_t mantissa = ((high >> (surplus - 1)) + 1) >> 1;
  // A mantissa that was rounded up to 2^53 carries into the exponent, as it should.
  constexpr int kBias = 1023;
  const int exponent = kBias + 52 + surplus + 64 + power.exponent - shift;
  return std::bit_cast<double>((static_cast<std::uint64_t>(exponent - 1) << 52) + mantissa);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Any number, by the general way, which takes more than JSON does: `.5`, `1.`, `01`, `inf`.
[[gnu::noinline]] const char* read_any(const char* at, const char* end, double& number) {
  const auto [to, status] = std::from_chars(at, end, number);
  if (status != std::errc{}) return nullptr;
  const char* const whole = at + (*at == '-' ? 1 : 0);
  if (whole == to || !is_digit(*whole)) return nullptr;
  if (*whole == '0' && whole + 1 < to && is_digit(whole[1])) return nullptr;
  const char* const dot = std::find(whole, to, '.');
  return dot == to || (dot + 1 < to && is_digit(dot[1])) ? to : nullptr;
}

}  // namespace

const char* read_decimal(const char* at, const char* end, double& number) {
  static constexpr std::array<std::uint64_t, kDigitsRead + 1> kScale = {
      1, 10, 100, 1'000, 10'000, 100'000, 1'000'000, 10'000'000, 100'000'000};
  constexpr std::ptrdiff_t kRoom = 4 * kDigitsRead;  // so much may be looked at without asking for the end
  constexpr unsigned kMostDigits = 19;               // always below 2^64
  if (end - at < kRoom) return read_any(at, end, number);
  const bool negative = *at == '-';
  const char* to = at + (negative ? 1 : 0);
  const Digits whole = read_digits(to);
  if (whole.count == 0 || whole.count == kDigitsRead || (*to == '0' && whole.count > 1))
    return read_any(at, end, number);
  to += whole.count;
  std::uint64_t digits = whole.value;
  unsigned behind = 0;
  if (*to == '.') {
    const Digits first = read_digits(++to);
    if (first.count == 0) return nullptr;
    const Digits more = first.count < kDigitsRead ? Digits{} : read_digits(to + kDigitsRead);
    digits = (digits * kScale[first.count] + first.value) * kScale[more.count] + more.value;
    behind = first.count + more.count;
    to += behind;
  }
  if (is_digit(*to) || (*to | 0x20) == 'e' || whole.count + behind > kMostDigits) return read_any(at, end, number);
  const auto value = nearest(digits, behind);
  if (!value) return read_any(at, end, number);
  number = negative ? -*value : *value;
  return to;
}

}  // namespace fathom
