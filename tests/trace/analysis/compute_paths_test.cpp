// Computation by call path, and the one that makes a rank late.
#include "trace/analysis/compute_paths.hpp"

#include <gtest/gtest.h>

#include "findings/trace_report.hpp"
#include "trace/made_ranks.hpp"

namespace fathom {
namespace {

using test::kSecond;
using test::MadeRanks;

// Four ranks, ten steps of 10 s in main->solve; rank 2 needs 5 s more of each, in main->solve->retry.
MadeRanks made_run() {
  MadeRanks trace(4);
  const auto main = trace.region("main");
  const auto solve = trace.region("solve");
  const auto retry = trace.region("retry");
  const auto barrier = trace.region("MPI_Barrier", "mpi");
  for (std::size_t r = 0; r < 4; ++r) {
    const auto at = [&](EventKind kind, std::int64_t s, std::uint32_t region) {
      trace.add(kind, s * kSecond, region, r);
    };
    at(EventKind::enter, 0, main);
    trace.call(r, barrier, 0, 1, true);
    for (std::int64_t t = 1; t < 160; t += 16) {
      at(EventKind::enter, t, solve);
      if (r == 2) {
        at(EventKind::enter, t + 10, retry);
        at(EventKind::leave, t + 15, retry);
      }
      const std::int64_t done = r == 2 ? t + 15 : t + 10;
      at(EventKind::leave, done, solve);
      trace.call(r, barrier, done, t + 16, true);
    }
    at(EventKind::leave, 161, main);
  }
  return trace;
}

TEST(ComputePaths, TheOneThatMakesARankLateIsNamed) {
  const MadeRanks trace = made_run();
  const auto analysed = analysis::analyse(trace, make_work());
  ASSERT_TRUE(analysed.ok()) << analysed.error().text();
  const analysis::RunCalls& run = (*analysed)->run;
  double all = 0;
  for (const double ns : run.locations[2].compute) all += ns;
  EXPECT_DOUBLE_EQ(all, 150.0 * kSecond);  // all computation of rank 2 is somewhere
  const Report report = trace_report(**analysed);
  ASSERT_FALSE(report.findings.empty());
  const Finding& finding = report.findings[0];
  EXPECT_EQ(finding.kind, "load_imbalance");
  EXPECT_EQ(finding.where.callpath, "main->solve->retry");
  EXPECT_NE(finding.text.find(", most of that in retry,"), std::string::npos) << finding.text;
}

TEST(ComputePaths, TreesOfProcessesBecomeOne) {
  analysis::PathTable a;
  const auto main = a.child(0, 7);
  EXPECT_EQ(a.child(main, 8), 2U);
  EXPECT_EQ(a.child(0, 7), main);
  analysis::PathTable b;
  const auto other = b.child(0, 9);
  const auto below = b.child(other, 8);
  const auto same = b.child(0, 7);
  const auto numbers = a.merge(b);
  EXPECT_EQ(numbers[same], main);
  EXPECT_EQ(a.region(numbers[below]), 8U);
  EXPECT_EQ(a.parent(numbers[below]), numbers[other]);
  EXPECT_EQ(a.size(), 5U);
}

TEST(ComputePaths, ARegionThatIsNeverLeftEndsWithWhatIsAroundIt) {
  analysis::PathTable table;
  analysis::ComputePaths paths(table);
  paths.resume(0);
  paths.enter(1, 10);
  paths.enter(2, 20);
  paths.leave(1, 50);
  paths.leave(5, 60);  // was never entered
  paths.pause(70);
  EXPECT_EQ(paths.take(), (std::vector<double>{30, 10, 30}));
}

}  // namespace
}  // namespace fathom
