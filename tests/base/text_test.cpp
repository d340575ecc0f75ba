#include "base/text.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <random>

#include "base/digits.hpp"
#include "base/number.hpp"

namespace fathom {
namespace {

TEST(Text, ParsesWholeNumbersOnly) {
  EXPECT_EQ(parse_integer<std::uint32_t>("4294967295"), 4294967295U);
  EXPECT_FALSE(parse_integer<std::uint32_t>("4294967296"));
  EXPECT_FALSE(parse_integer<std::uint32_t>("-1"));
  EXPECT_FALSE(parse_integer<std::uint32_t>("1 "));
  EXPECT_FALSE(parse_integer<std::uint32_t>(""));
  EXPECT_EQ(parse_double("+1.5e3"), 1500.0);
  EXPECT_FALSE(parse_double("1.5x"));
}

// Short decimals are read in a way of their own: to the same bits as the general one.
TEST(Text, ReadsShortDecimalsAsLongOnes) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200'000; ++i) {
    std::string text = random() % 3 == 0 ? "-" : "";
    const std::size_t digits = 1 + random() % 18;
    for (std::size_t d = 0; d < digits; ++d) text += static_cast<char>('0' + random() % 10);
    if (random() % 4 != 0) text.insert(text.size() - random() % (digits + 1), ".");
    double expected = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), expected);
    const bool whole = status == std::errc{} && end == text.data() + text.size();
    const auto found = parse_double(text);
    ASSERT_EQ(found.has_value(), whole) << text;
    ASSERT_TRUE(!whole || std::bit_cast<std::uint64_t>(*found) == std::bit_cast<std::uint64_t>(expected)) << text;
  }
  EXPECT_TRUE(std::signbit(parse_double("-0").value()));
  EXPECT_FALSE(parse_double("-"));
  EXPECT_FALSE(parse_double("."));
}

TEST(Text, ReadsDigitsEightAtATime) {
  std::mt19937 random(2);
  for (int i = 0; i < 100'000; ++i) {
    std::string text;
    const std::size_t digits = random() % 9;
    for (std::size_t d = 0; d < digits; ++d) text += static_cast<char>('0' + random() % 10);
    while (text.size() < kDigitsRead) {
      char c = static_cast<char>(random() % 256);
      if (text.size() == digits && c >= '0' && c <= '9') c = '/';
      text += c;
    }
    const Digits found = read_digits(text.data());
    ASSERT_EQ(found.count, digits);
    ASSERT_EQ(found.value, digits == 0 ? 0 : std::stoull(text.substr(0, digits))) << text;
  }
}

TEST(Text, TrimsWhatIsBlank) {
  EXPECT_EQ(trim(" \t\r\n\f\va b \n"), "a b");
  EXPECT_EQ(trim("\x08 a"), "\x08 a");
  EXPECT_EQ(trim(" \t "), "");
  EXPECT_EQ(trim(""), "");
}

TEST(Text, ParsesSizes) {
  EXPECT_EQ(parse_size("512"), 512U);
  EXPECT_EQ(parse_size("64K"), 65536U);
  EXPECT_EQ(parse_size("1.5 GiB"), 1610612736U);
  EXPECT_FALSE(parse_size("12X"));
  EXPECT_FALSE(parse_size("-1"));
  EXPECT_FALSE(parse_size("99999999999T"));
}

TEST(Text, MatchesPatterns) {
  EXPECT_TRUE(matches_pattern("MPI_*", "MPI_Send"));
  EXPECT_TRUE(matches_pattern("*end", "MPI_Send"));
  EXPECT_TRUE(matches_pattern("M?I_*nd*", "MPI_Send"));
  EXPECT_FALSE(matches_pattern("MPI", "MPI_Send"));
  EXPECT_FALSE(matches_pattern("?", ""));
  EXPECT_TRUE(matches_pattern("*", ""));
}

TEST(Text, SuggestsTheNearestName) {
  const std::vector<std::string> names = {"time", "visits", "bytes_sent"};
  EXPECT_EQ(nearest("tmie", names), "time");
  EXPECT_EQ(nearest("bytes", names), "bytes_sent");
  EXPECT_EQ(nearest("wholly_different", names), "");
}

TEST(Text, ShortensTemplatesBeforeCutting) {
  const std::string name = "void solver<std::vector<double>, 4>::apply(std::map<int, int> const&, double)";
  EXPECT_EQ(shorten_name(name, 200), name);
  EXPECT_EQ(shorten_name(name, 60), "void solver<…>::apply(std::map<…> const&, double)");
  EXPECT_EQ(shorten_name(name, 30), "void solver<…>::apply(…)");
  EXPECT_EQ(shorten_name("operator<<(int)", 10), "operator<…");
  EXPECT_EQ(shorten_name("abcdef", 4), "abc…");
}

TEST(Text, QuotesForMachines) {
  EXPECT_EQ(json_quote("a\"b\\\n\x01"), "\"a\\\"b\\\\\\n\\u0001\"");
  EXPECT_EQ(json_quote("\xC3\xA4\xFF"), "\"\xC3\xA4\xEF\xBF\xBD\"");
  EXPECT_EQ(json_quote("\xED\xA0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");  // a lone surrogate
  EXPECT_EQ(csv_quote("plain"), "plain");
  EXPECT_EQ(csv_quote("a,\"b\""), "\"a,\"\"b\"\"\"");
  // CSV is UTF-8 whatever bytes a name has: as JSON, a sign for each byte that is none.
  EXPECT_EQ(csv_quote("h\xC3\xA9 \xFFx\x9B\xC3"), "h\xC3\xA9 \xEF\xBF\xBDx\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(csv_quote("\xFF,"), "\"\xEF\xBF\xBD,\"");
  EXPECT_EQ(xml_escape("<&>'\""), "&lt;&amp;&gt;&apos;&quot;");
  EXPECT_EQ(xml_escape("a\tb\x01"), "a\tb?");
  EXPECT_EQ(xml_escape("L\xf6s \xc3\xb6"), "L\xef\xbf\xbds \xc3\xb6");
  EXPECT_EQ(xml_escape("a\xEF\xBF\xBF\xEF\xBF\xBE"), "a\xef\xbf\xbd\xef\xbf\xbd");
}

TEST(Text, DemanglesOnlySymbols) {
  EXPECT_EQ(demangle("_ZN3foo3barEi"), "foo::bar(int)");
  EXPECT_EQ(demangle("main"), "main");
  EXPECT_EQ(demangle("_Z"), "_Z");
}

TEST(Number, IsExact) {
  EXPECT_EQ(exact_text(0.1), "0.1");
  EXPECT_EQ(exact_text(Int128{0}), "0");
  EXPECT_EQ(exact_text(static_cast<Int128>(18446744073709551615U) * 2), "36893488147419103230");
  EXPECT_EQ(exact_text(-(static_cast<Int128>(1) << 126) * 2), "-170141183460469231731687303715884105728");
  EXPECT_EQ(json_number(1.0 / 0.0), "\"inf\"");
}

TEST(Number, IsReadable) {
  EXPECT_EQ(readable(0.00123, "sec"), "1.23 ms");
  EXPECT_EQ(readable(12.5, "sec"), "12.5 s");
  EXPECT_EQ(readable(3996000, "usec"), "4.00 s");
  EXPECT_EQ(readable(250, "ns"), "250 ns");
  EXPECT_EQ(readable(1500, "sec"), "1500 s");
  EXPECT_EQ(readable(-36000, "sec"), "-10.0 h");
  EXPECT_EQ(readable(102869591, "sec"), "28,574 h");
  EXPECT_EQ(readable(1e300, "sec"), "2.78e+296 h");
  EXPECT_EQ(readable(1536, "bytes"), "1.50 KiB");
  EXPECT_EQ(readable(42, "occ"), "42");
  EXPECT_EQ(readable(1234567, "occ"), "1.23 M");
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(percent(1, 3), "33.3%");
  EXPECT_EQ(percent(1, 0), "-");
}

}  // namespace
}  // namespace fathom
