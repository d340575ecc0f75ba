#include "defs/path_walker.hpp"

#include <gtest/gtest.h>

namespace fathom {
namespace {

// A chain of `depth` contexts, each with one more child beside it: names c0 s1 c1 s2 c2 ...
Definitions chain(std::size_t depth) {
  Definitions defs;
  ContextTreeBuilder builder;
  ContextTreeBuilder::Handle parent = ContextTreeBuilder::kRoot;
  const auto region = [&](std::string name) {
    defs.regions.push_back({});
    defs.regions.back().name = std::move(name);
    return RegionId(defs.regions.size() - 1);
  };
  for (std::size_t i = 0; i < depth; ++i) {
    if (i > 0) builder.add(parent, region("s" + std::to_string(i)), 1000000 + i);
    parent = builder.add(parent, region("c" + std::to_string(i)), i);
  }
  defs.contexts = std::move(builder).build();
  return defs;
}

TEST(PathWalker, AgreesWithThePathsOfTheDefinitions) {
  const Definitions defs = chain(60);
  PathWalker walker(defs);
  for (std::size_t i = 0; i < defs.contexts.size(); ++i) EXPECT_EQ(walker.path(ContextId(i)), defs.path(ContextId(i)));
  // Also when jumping about.
  EXPECT_EQ(walker.path(ContextId(3)), defs.path(ContextId(3)));
  EXPECT_EQ(walker.path(ContextId(90)), defs.path(ContextId(90)));
}

TEST(PathWalker, LeavesOutTheMiddleOfDeepPaths) {
  const Definitions defs = chain(1000);
  PathWalker walker(defs);
  const ContextId last = defs.contexts.find(999);
  const std::string path(walker.path(last));
  EXPECT_EQ(path.rfind("c0->c1->", 0), 0U);
  EXPECT_NE(path.find("->c99->…(800 levels)…->c900->"), std::string::npos);
  EXPECT_EQ(path.substr(path.size() - 12), "->c998->c999");
  // The deepest whole path and the first that is cut.
  EXPECT_EQ(walker.path(defs.contexts.find(199)), defs.path(defs.contexts.find(199)));
  EXPECT_NE(walker.path(defs.contexts.find(200)).find("…(1 levels)…"), std::string::npos);
}

}  // namespace
}  // namespace fathom
