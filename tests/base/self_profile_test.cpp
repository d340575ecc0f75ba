#include "base/self_profile.hpp"

#include <gtest/gtest.h>

#include "base/parallel.hpp"

namespace fathom {
namespace {

void spin() {
  volatile double sum = 0;
  for (int i = 0; i < 200'000; ++i) sum = sum + i;
}

TEST(SelfProfile, NobodyAskedNothingIsKept) {
  SelfProfile profile;
  { const Phase phase("idle"); }
  EXPECT_TRUE(profile.spans().empty());
  EXPECT_EQ(profile.table().rows(), 0U);
}

TEST(SelfProfile, OwnTimesOfAThreadAddUpToTheOutermostPhase) {
  SelfProfile profile;
  {
    const SelfProfileScope scope(&profile);
    const Phase outer("outer");
    spin();
    for (int i = 0; i < 3; ++i) {
      const Phase inner("inner");
      spin();
    }
  }
  const auto spans = profile.spans();
  ASSERT_EQ(spans.size(), 4U);
  EXPECT_EQ(spans[0].phase, "outer");
  EXPECT_EQ(spans[0].depth, 0U);
  std::int64_t own = 0;
  for (const auto& span : spans) {
    EXPECT_GE(span.own_wall_ns, 0);
    EXPECT_GE(span.begin_ns, spans[0].begin_ns);
    EXPECT_LE(span.end_ns, spans[0].end_ns);
    own += span.own_wall_ns;
  }
  EXPECT_EQ(own, spans[0].end_ns - spans[0].begin_ns);
  const Table table = profile.table();
  ASSERT_EQ(table.rows(), 2U);
  EXPECT_NEAR(table.column("share").real(0) + table.column("share").real(1), 1.0, 1e-12);
}

TEST(SelfProfile, ThreadsThatHelpAreInThePhaseOfTheLoop) {
  SelfProfile profile;
  const Execution execution(4);
  {
    const ExecutionScope threads(execution);
    const SelfProfileScope scope(&profile);
    const Phase phase("loop");
    ASSERT_TRUE(parallel_for(64, [](std::size_t) -> Result<void> {
                  const Phase part("part");
                  spin();
                  return {};
                }).ok());
  }
  std::size_t parts = 0;
  for (const auto& span : profile.spans()) {
    EXPECT_TRUE(span.phase == "loop" || span.phase == "part");
    if (span.phase == "part") {
      ++parts;
      EXPECT_GE(span.depth, 1U);
    }
  }
  EXPECT_EQ(parts, 64U);
}

}  // namespace
}  // namespace fathom
