#include "base/decimal.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>

namespace fathom {
namespace {

// The C library reads any decimal number to the nearest double.
void expect_nearest(const std::string& text) {
  const double expected = std::strtod(text.c_str(), nullptr);
  for (const char* behind : {"", ",", "]}          ", " 1234567890"}) {  // more or less room behind it
    const std::string whole = text + behind;
    double number = 0;
    const char* const end = read_decimal(whole.data(), whole.data() + whole.size(), number);
    ASSERT_EQ(end, whole.data() + text.size()) << whole;
    ASSERT_EQ(std::bit_cast<std::uint64_t>(number), std::bit_cast<std::uint64_t>(expected)) << whole;
  }
}

TEST(Decimal, ReadsTheNearestDouble) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100'000; ++i) {
    // Any double of usual size, spelt with as many digits as it takes, or with fewer or more.
    const double value =
        std::ldexp(1 + static_cast<double>(random() >> 12) * 0x1p-52, static_cast<int>(random() % 160) - 80);
    const auto digits = static_cast<int>(random() % 22);
    expect_nearest(random() % 2 == 0 ? fmt::format("{}", value) : fmt::format("{:.{}f}", value, digits));
    expect_nearest(fmt::format("-{:.{}e}", value, digits));
  }
}

TEST(Decimal, ReadsWhatLiesBetweenTwoDoubles) {
  // 2^53 + 1, 2^54 + 2, ... in the middle, and one digit above and below it.
  for (const char* text : {"9007199254740993",
                           "9007199254740993.0",
                           "9007199254740993.00000001",
                           "9007199254740992.99999999",
                           "18014398509481986",
                           "18014398509481985",
                           "18014398509481987",
                           "5e-324",
                           "2.2250738585072011e-308",
                           "1.7976931348623157e308",
                           "8.5",
                           "0.5",
                           "0.1",
                           "1e22",
                           "1e23",
                           "1e27",
                           "1e28",
                           "1e-27",
                           "1e-28",
                           "18446744073709551615",
                           "18446744073709551616",
                           "99999999999999999999999",
                           "0.00000000000000000000001",
                           "0.000123456789012345678901234567890",
                           "123456789012345678901234567890e-20",
                           "0",
                           "-0",
                           "-0.0",
                           "0e99999999999999999999"}) {
    expect_nearest(text);
  }
}

TEST(Decimal, LeavesWhatIsNone) {
  for (const char* text : {"", "-", ".5", "1.", "1.e5", "01", "-01", "+1", "nan", "inf", "-inf", "x", "--1", "1e999",
                           "1e-999", "1e99999999999999999999"}) {
    const std::string whole = text;
    double number = 7;
    EXPECT_EQ(read_decimal(whole.data(), whole.data() + whole.size(), number), nullptr) << text;
  }
}

TEST(Decimal, StopsBehindTheNumber) {
  for (const auto& [text, length] : {std::pair("1e", 1), std::pair("1e+", 1), std::pair("2.5ex", 3),
                                     std::pair("0x10", 1), std::pair("1.5.2", 3), std::pair("12-3", 2)}) {
    const std::string whole = text;
    double number = 0;
    EXPECT_EQ(read_decimal(whole.data(), whole.data() + whole.size(), number), whole.data() + length) << text;
  }
}

}  // namespace
}  // namespace fathom
