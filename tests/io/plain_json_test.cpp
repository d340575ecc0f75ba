#include "io/plain_json.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include <cmath>
#include <random>

#include "base/execution.hpp"

namespace fathom {
namespace {

// The parser decides: what is accepted here it accepts too, as a number of the same kind with the same bits.
bool agrees(const std::string& token) {
  const std::string text = token + ",12345678";  // so that there is room to look ahead, and in the other loop none
  for (const std::size_t size : {token.size() + 1, text.size()}) {
    PlainJson json(std::string_view(text).substr(0, size));
    JsonNumber number;
    if (!json.number(number) || !json.accept(',')) continue;
    static simdjson::dom::parser parser;
    simdjson::dom::element parsed;
    if (parser.parse("[" + token + "]").at(0).get(parsed) != simdjson::SUCCESS) return false;
    std::int64_t integer = 0;
    double value = 0;
    const bool whole = parsed.get_int64().get(integer) == simdjson::SUCCESS;
    if (whole == number.real || (whole && integer != number.integer)) return false;
    if (parsed.get_double().get(value) != simdjson::SUCCESS || std::signbit(value) != std::signbit(number.value) ||
        value != number.value)
      return false;
  }
  return true;
}

bool accepts(const std::string& token) {
  const std::string text = token + "]";
  PlainJson json(text);
  JsonNumber number;
  return json.number(number) && json.accept(']') && json.at_end();
}

TEST(PlainJson, NumbersAreThoseOfAJsonParser) {
  for (const char* usual : {"0", "-0", "-0.0", "7", "-12", "12345678", "123456789", "123456789012345678", "0.5",
                            "99.000001", "-1.5e3", "1E-7", "3.141592653589793238", "9007199254740993.5", "1e22"}) {
    EXPECT_TRUE(accepts(usual)) << usual;
    EXPECT_TRUE(agrees(usual)) << usual;
  }
  for (const char* none : {"", "-", "+1", "01", "-01", ".5", "1.", "1.e5", "1e", "1e+", "1e999", "nan", "inf", "0x10",
                           "--1", "1 2", "1a", "null", "\"1\""}) {
    EXPECT_FALSE(accepts(none)) << none;
  }
  std::mt19937 random(1);
  constexpr std::string_view kLetters = "0123456789012345678901234567890.-eE+ ";
  for (int i = 0; i < 20'000; ++i) {
    std::string token;
    for (std::size_t size = 1 + random() % 24; token.size() < size;) token += kLetters[random() % kLetters.size()];
    ASSERT_TRUE(agrees(token)) << token;
  }
  for (int i = 0; i < 20'000; ++i) {
    const double value = std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 100) - 60);
    for (const std::string& token :
         {fmt::format("{}", value), fmt::format("{:.6f}", value), fmt::format("{:.15g}", value)})
      ASSERT_TRUE(agrees(token)) << token;
  }
}

TEST(PlainJson, NaturalNumbersHaveNoSignAndFewDigits) {
  const auto read = [](const std::string& text) -> std::int64_t {
    PlainJson json(text);
    std::uint32_t number = 0;
    return json.natural(number) && json.accept(']') ? std::int64_t{number} : -1;
  };
  for (const std::string behind : {"", "          "}) {  // where nothing can be looked ahead, and where it can
    EXPECT_EQ(read("0]" + behind), 0);
    EXPECT_EQ(read(" 42 ]" + behind), 42);
    EXPECT_EQ(read("12345678]" + behind), 12345678);
    for (const char* other : {"123456789]", "01]", "-1]", "1.0]", "1e3]", "1E3]", "]", "x]", "1"}) {
      EXPECT_EQ(read(other + behind), -1) << other;
    }
  }
}

TEST(PlainJson, TextsWithEscapesOrLettersBeyondAsciiAreLeft) {
  const auto read = [](std::string_view text) {
    PlainJson json(text);
    std::string_view found;
    return json.text(found) ? std::string(found) : std::string("-");
  };
  EXPECT_EQ(read("\"a b\""), "a b");
  EXPECT_EQ(read("\"\""), "");
  for (const char* other : {"\"a\\n\"", "\"\xC3\xA4\"", "\"\xFF\"", "\"a\nb\"", "\"a", "a"})
    EXPECT_EQ(read(other), "-");
}

TEST(PlainJson, ListsAreCutBetweenTheirElements) {
  const auto pieces = cut_list("[[1,2] ,\n [3],[4,5],[6]]", '[', ']', 4);
  EXPECT_EQ(pieces, (std::vector<std::string_view>{"[1,2]", "[3],[4,5]", "[6]"}));
  EXPECT_TRUE(cut_list("[ ]", '[', ']', 4).empty());
  EXPECT_EQ(cut_list("[,]", '[', ']', 4).size(), 1U);
}

// In order and each once, with any number of threads, until one is not plain.
TEST(PlainJson, PiecesAreTakenInOrderUntilOneIsNotPlain) {
  std::string list = "[";
  constexpr std::uint32_t kCount = 300'000;
  for (std::uint32_t i = 0; i < kCount; ++i) list += fmt::format("{}[{}]", i == 0 ? "" : ",", i);
  list += ']';
  struct Piece {
    std::vector<std::uint32_t> numbers;
    bool read(std::string_view text) {
      numbers.clear();
      PlainJson json(text);
      std::uint32_t number = 0;
      do {
        if (!json.accept('[') || !json.natural(number) || !json.accept(']')) return false;
        numbers.push_back(number);
      } while (json.accept(','));
      return json.at_end();
    }
  };
  const std::size_t odd = list.find("[200000]") + 1;
  for (const bool plain : {true, false}) {
    if (!plain) list[odd] = '-';
    for (const unsigned threads : {1U, 2U, 8U}) {
      const Execution execution(threads);
      const ExecutionScope scope(execution);
      std::uint32_t next = 0;
      auto all = each_plain_piece<Piece>(
          list, '[', ']', [](Piece& piece, std::string_view text) { return piece.read(text); },
          [&](const Piece& piece) -> Result<bool> {
            for (const std::uint32_t number : piece.numbers) EXPECT_EQ(number, next++);
            return true;
          });
      ASSERT_TRUE(all.ok());
      EXPECT_EQ(*all, plain);
      EXPECT_TRUE(plain ? next == kCount : next <= 200'000);
    }
  }
}

}  // namespace
}  // namespace fathom
