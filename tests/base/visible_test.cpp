#include "base/visible.hpp"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(Visible, ShowsWhatWouldDriveATerminal) {
  EXPECT_EQ(visible("plain name"), "plain name");
  EXPECT_EQ(visible("a\x1b]0;title\x07z"), "a\\x1b]0;title\\x07z");
  EXPECT_EQ(visible("one\ntwo\tthree\r"), "one\\x0atwo\\x09three\\x0d");
  EXPECT_EQ(visible("\x7f"), "\\x7f");
  EXPECT_EQ(visible("\xc2\x9b"
                    "31m"),
            "\\x9b31m");  // CSI as one character
  EXPECT_EQ(visible("\x9b"
                    "31m"),
            "\\x9b31m");  // the same as a byte
  EXPECT_EQ(visible("größe → 3 µs █"), "größe → 3 µs █");
  EXPECT_EQ(visible("\xe2\x80\xae"
                    "abc"),
            "\\u202e"
            "abc");                                       // writes from right to left
  EXPECT_EQ(visible("\xc3"), "\\xc3");                    // half a character
  EXPECT_EQ(visible("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // a surrogate
  EXPECT_EQ(visible("\xc0\xaf"), "\\xc0\\xaf");           // too long a spelling
  EXPECT_EQ(visible(std::string_view("\0", 1)), "\\x00");
}

TEST(Visible, LinesKeepBreaksAndOurColours) {
  EXPECT_EQ(visible_lines("a\tb\n"), "a\tb\n");
  EXPECT_EQ(visible_lines("\x1b[31mred\x1b[0m"), "\x1b[31mred\x1b[0m");
  EXPECT_EQ(visible_lines("\x1b[31mred", false), "\\x1b[31mred");
  EXPECT_EQ(visible_lines("\x1b[8mhidden"), "\\x1b[8mhidden");
  EXPECT_EQ(visible_lines("\x1b[2J"), "\\x1b[2J");
  EXPECT_EQ(visible_lines("\x1b]8;;http://x\x07"), "\\x1b]8;;http://x\\x07");
  EXPECT_EQ(visible_lines("\x1b[31"), "\\x1b[31");
  EXPECT_EQ(visible_lines("\x1b"), "\\x1b");
}

}  // namespace
}  // namespace fathom
