#include "report/markdown.hpp"

#include <gtest/gtest.h>

namespace fathom {
namespace {

// What CommonMark says of a backslash before punctuation: it stands for itself.
TEST(Markdown, NamesAreShownAsTheyAre) {
  EXPECT_EQ(markdown_text("std::vector<int>::operator||"), "std::vector\\<int>::operator\\|\\|");
  EXPECT_EQ(markdown_text("__init__ *p `x` [a](b)"), "\\_\\_init\\_\\_ \\*p \\`x\\` \\[a](b)");
}

TEST(Markdown, ControlsDoNotEndACell) { EXPECT_EQ(markdown_text("a\nb\x1b"), "a\\\\x0ab\\\\x1b"); }

}  // namespace
}  // namespace fathom
