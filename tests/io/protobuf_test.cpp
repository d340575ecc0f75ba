#include "io/protobuf.hpp"

#include <gtest/gtest.h>

#include <random>

namespace fathom::protobuf {
namespace {

// Numbers of any length, with enough behind them to be looked at in one piece and with nothing.
TEST(Protobuf, NumbersOfEveryLengthComeBack) {
  std::mt19937_64 random(6);
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t value = random() >> random() % 64;
    std::string text;
    put_varint(text, value);
    const std::size_t length = text.size();
    for (const std::size_t behind : {std::size_t{0}, std::size_t{9}}) {
      std::string bytes = text;
      for (std::size_t b = 0; b < behind; ++b) bytes += static_cast<char>(random());
      Reader reader(bytes);
      std::uint64_t found = 0;
      ASSERT_TRUE(reader.varint(found));
      ASSERT_EQ(found, value) << length << " bytes, " << behind << " behind";
      ASSERT_EQ(reader.at_end(), behind == 0);
    }
    Reader cut(std::string_view(text).substr(0, length - 1));
    std::uint64_t found = 0;
    ASSERT_FALSE(cut.varint(found));
  }
  // More than ten bytes are no number; zeros at the end of one are allowed.
  std::uint64_t found = 0;
  EXPECT_FALSE(Reader(std::string_view("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 11)).varint(found));
  EXPECT_TRUE(Reader(std::string_view("\x85\x80\x00zzzzz", 8)).varint(found));
  EXPECT_EQ(found, 5u);
}

}  // namespace
}  // namespace fathom::protobuf
