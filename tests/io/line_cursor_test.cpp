#include "io/line_cursor.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace fathom {
namespace {

using Lines = std::vector<std::pair<std::uint64_t, std::string>>;

Lines whole(const std::string& text) {
  Lines out;
  LineCursor cursor(Blob::own("x", text));
  while (const auto line = cursor.next()) out.emplace_back(cursor.number(), *line);
  return out;
}

// Pieces of any size have the same lines under the same numbers as the text as a whole.
TEST(LineCursor, PiecesHaveTheLinesOfTheWhole) {
  for (const std::string& text :
       {std::string("a\nbb\r\n\nccc\n"), std::string("\xEF\xBB\xBFone\ntwo"), std::string("a\rb\r\rc\r"),
        std::string("\n\n\n"), std::string(), std::string("\xEF\xBB\xBF"), std::string("alone")}) {
    const Lines expected = whole(text);
    for (std::size_t bytes = 0; bytes < text.size() + 2; ++bytes) {
      Lines found;
      LineCursor all(Blob::own("x", text));
      while (!all.at_end()) {
        LineCursor piece = all.cut(bytes);
        const std::uint64_t before = piece.number();
        while (const auto line = piece.next()) found.emplace_back(piece.number(), *line);
        all.skip(piece.number() - before);
      }
      EXPECT_EQ(found, expected) << text << " in pieces of " << bytes;
    }
  }
}

}  // namespace
}  // namespace fathom
