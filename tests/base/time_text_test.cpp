#include "base/time_text.hpp"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(TimeText, NumbersWithAndWithoutUnits) {
  EXPECT_EQ(parse_time_ns("12", 1), 12);
  EXPECT_EQ(parse_time_ns("12", 1'000'000'000), 12'000'000'000);
  EXPECT_EQ(parse_time_ns("12us", 1), 12'000);
  EXPECT_EQ(parse_time_ns("3.5ms", 1), 3'500'000);
  EXPECT_EQ(parse_time_ns("-1.25s", 1), -1'250'000'000);
  EXPECT_EQ(parse_time_ns(" .5s", 1), 500'000'000);
  EXPECT_EQ(parse_time_ns("1.", 1'000), 1'000);
  // More digits than a double keeps.
  EXPECT_EQ(parse_time_ns("1700000000.123456789", 1'000'000'000), 1'700'000'000'123'456'789);
  EXPECT_EQ(parse_time_ns("0.9999999999s", 1), 999'999'999);
}

TEST(TimeText, WhatIsNoTime) {
  for (const char* text : {"", "s", ".", "1.2.3", "1e3", "12 s", "0x1", "nan", "99999999999999s", "9223372036855s"}) {
    EXPECT_EQ(parse_time_ns(text, 1), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace fathom
