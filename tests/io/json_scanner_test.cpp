#include "io/json_scanner.hpp"

#include <gtest/gtest.h>

#include <random>

namespace fathom {
namespace {

JsonScanner over(std::string text) { return JsonScanner(Blob::own("test.json", std::move(text))); }

TEST(JsonScanner, PassesOverValues) {
  // Brackets and quotes at every place within a block of 64 bytes, and inside of texts, where they are none; with and
  // without something that is escaped.
  for (const std::string name : {R"("a]}\"")", R"("a]}")", R"("\\")", R"("[\\\"{")"}) {
    for (std::size_t shift = 0; shift < 150; ++shift) {
      const std::string value = "[" + std::string(shift, '1') + ", {" + name + ": [" + std::string(shift, ' ') + "]}]";
      JsonScanner scanner = over(value + ",]]}}" + std::string(shift, '"'));
      EXPECT_EQ(scanner.skip_value(), value);
      EXPECT_EQ(scanner.offset(), value.size());
      EXPECT_TRUE(scanner.ok());
    }
  }
}

// Rows of a list, now and then with a list or a text inside, so that brackets stand anywhere in a block of bytes.
TEST(JsonScanner, PassesOverLongListsOfRows) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    const unsigned odd = round % 5 == 0 ? 3 : 50;
    std::string value = "[";
    for (std::size_t rows = random() % 40; rows-- > 0;) {
      value += value.size() > 1 ? ", [" : "[";
      for (std::size_t cells = 1 + random() % 12; cells-- > 0;) {
        value += random() % odd == 0 ? "[{}]," : random() % odd == 0 ? "\"]\"," : std::to_string(random() % 1000) + ",";
      }
      value.back() = ']';
    }
    value += ']';
    JsonScanner scanner = over(value + std::string(random() % 100, ']'));
    EXPECT_EQ(scanner.skip_value(), value);
  }
}

TEST(JsonScanner, WhatIsNotClosedIsToldWhereItBegins) {
  for (const std::size_t size : {0U, 63U, 64U, 200U}) {
    JsonScanner list = over(" [" + std::string(size, '1') + "{}");
    EXPECT_TRUE(list.skip_value().empty());
    EXPECT_EQ(list.status().error().place().offset, 1U);
    JsonScanner text = over("[" + std::string(size, '1') + "\"]" + std::string(size, '2'));
    EXPECT_TRUE(text.skip_value().empty());
    EXPECT_EQ(text.status().error().place().offset, size + 1);
  }
}

TEST(JsonScanner, ControlCharactersAndLettersAreNoBrackets) {
  const std::string value = "[\x02\x5c\x5e\x7c\x7e\xfb\xfd\xdb\xa2 ]";  // one bit away from brackets and quotes
  JsonScanner scanner = over(value);
  EXPECT_EQ(scanner.skip_value(), value);
}

TEST(JsonScanner, TakesPlainNumbers) {
  JsonScanner scanner = over("[0, -0.5,1e3 , 1.5E-2, 123456789012345678 ] x");
  std::vector<double> numbers;
  ASSERT_TRUE(scanner.accept_numbers(numbers));
  EXPECT_EQ(numbers, (std::vector<double>{0, -0.5, 1000, 0.015, 123456789012345678.0}));
  EXPECT_EQ(scanner.peek(), 'x');
}

TEST(JsonScanner, LeavesListsOfAnythingElse) {
  for (const char* text :
       {"[]",      "[1,]",  "[01]",    "[.5]", "[1.]",  "[1.e5]", "[-]", "[+1]",   "[nan]", "[inf]", "[-inf]",
        "[1e999]", "[[1]]", "[\"1\"]", "[1",   "[1 2]", "1",      "",    "[0x10]", "[1e]",  "[-.5]"}) {
    JsonScanner scanner = over(text);
    std::vector<double> numbers{7};
    EXPECT_FALSE(scanner.accept_numbers(numbers)) << text;
    EXPECT_EQ(scanner.offset(), 0U) << text;
    EXPECT_EQ(numbers, std::vector<double>{7}) << text;
    EXPECT_TRUE(scanner.ok()) << text;
  }
}

TEST(JsonScanner, TakesAKey) {
  JsonScanner scanner = over(" \"point\" : 1");
  EXPECT_FALSE(scanner.accept_key("poin"));
  EXPECT_FALSE(scanner.accept_key("points"));
  EXPECT_TRUE(scanner.accept_key("point"));
  EXPECT_EQ(scanner.peek(), '1');
}

}  // namespace
}  // namespace fathom
