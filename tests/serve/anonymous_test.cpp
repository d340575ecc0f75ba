#include "serve/anonymous.hpp"

#include <gtest/gtest.h>

#include "base/base64.hpp"
#include "io/blob.hpp"
#include "serve/wire.hpp"

namespace fathom::serve {
namespace {

TEST(Anonymiser, TakesOutNamesThatStandAsWords) {
  Anonymiser names;
  names.forget("jwd", "user");
  names.forget("node17", "node 1");
  names.forget("node17.cluster.example", "node 2");
  EXPECT_EQ(names.text("rank 3 on node17, started by jwd"), "rank 3 on node 1, started by user");
  EXPECT_EQ(names.text("node17.cluster.example:4711"), "node 2:4711");
  // Not inside of other words.
  EXPECT_EQ(names.text("jwdx, xjwd, node171, my_node17"), "jwdx, xjwd, node171, my_node17");
}

TEST(Anonymiser, LeavesTheLastPartOfPaths) {
  const Anonymiser names;
  EXPECT_EQ(names.text("/home/jane/app/solve.cpp:12"), "solve.cpp:12");
  EXPECT_EQ(names.text("cannot read '/scratch/jane/run.meta'"), "cannot read 'run.meta'");
  EXPECT_EQ(names.text("src/solve.cpp"), "src/solve.cpp");
  EXPECT_EQ(names.text("1/s, a / b, // and /"), "1/s, a / b, // and /");
}

TEST(Anonymiser, NumbersAndLettersAreNoNames) {
  Anonymiser names;
  names.forget("0", "node 1");
  names.forget("a", "node 2");
  names.forget("", "node 3");
  EXPECT_EQ(names.text("a 0 1"), "a 0 1");
}

TEST(Anonymiser, OfJsonOnlyValuesChange) {
  Anonymiser names;
  names.forget("node", "machine 1");
  EXPECT_EQ(names.json(R"({"node": "node", "list": ["a \"node\"", "\\"], "n": 3})"),
            R"({"node": "machine 1", "list": ["a \"machine 1\"", "\\"], "n": 3})");
}

TEST(Wire, LongTextsAreCutBetweenCharacters) {
  EXPECT_EQ(shown_text("short"), "short");
  std::string umlauts;
  while (umlauts.size() < (1U << 20)) umlauts += "ä";
  const std::string cut = shown_text(umlauts);
  EXPECT_LT(cut.size(), kLongestName + 40);
  EXPECT_TRUE(cut.ends_with("ä… (1048576 bytes)")) << cut.substr(cut.size() - 30);
}

// The examples of RFC 4648.
TEST(Base64, AsTheStandardHasIt) {
  for (const auto& [text, coded] :
       {std::pair{"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foobar", "Zm9vYmFy"}}) {
    EXPECT_EQ(base64(as_bytes(text)), coded);
  }
}

}  // namespace
}  // namespace fathom::serve
