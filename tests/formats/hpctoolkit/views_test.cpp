// Views of databases, whose trees have loops and lines: whatever the rows are, exclusive values add up to the total.
#include "profile/views.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "formats/registry.hpp"
#include "profile/inspect/inspect.hpp"

namespace fathom::hpctoolkit {
namespace {

namespace fs = std::filesystem;

fs::path data_directory() { return fs::path(FATHOM_SHARED_DATA) / "hpctoolkit"; }

double sum(const Cells& cells) {
  double out = 0;
  for (std::size_t i = 0; i < cells.rows(); ++i) out += cells.scalar(i, 0);
  return out;
}

TEST(HpctoolkitViews, RowsAddUpToTheTotal) {
  if (!fs::exists(data_directory())) GTEST_SKIP() << "no shared data";
  std::size_t checked = 0;
  for (const auto& entry : fs::directory_iterator(data_directory())) {
    if (!entry.is_directory()) continue;
    auto dataset = open_dataset(entry.path(), make_work());
    ASSERT_TRUE(dataset.ok()) << entry.path();
    auto opened = (*dataset)->profile();
    ASSERT_TRUE(opened.ok()) << entry.path();
    const Profile& profile = **opened;
    for (std::size_t m = 0; m < profile.defs().metrics.size(); ++m) {
      const Metric& metric = profile.defs().metrics[m];
      if (metric.derived() || metric.scopes.size() < 2) continue;
      auto total = metric_total(profile, MetricId(m), {});
      ASSERT_TRUE(total.ok());
      if (total->scalar() == 0) continue;
      ++checked;
      const double tolerance = 1e-9 * std::abs(total->scalar());
      for (const GroupBy by : {GroupBy::region, GroupBy::file, GroupBy::module, GroupBy::location}) {
        auto flat = flat_profile(profile, {MetricId(m), {}, {}}, by);
        ASSERT_TRUE(flat.ok());
        EXPECT_NEAR(sum(flat->exclusive), total->scalar(), tolerance)
            << entry.path() << " " << metric.name << " by " << static_cast<int>(by);
      }
      auto callers = bottom_up(profile, {MetricId(m), {}, {}}, 1);
      ASSERT_TRUE(callers.ok());
      double roots = 0;
      for (const std::uint32_t root : callers->roots()) {
        roots += callers->exclusive.scalar(root, 0);
        EXPECT_NE(profile.defs().region(callers->nodes[root].region).role, "line");
      }
      EXPECT_NEAR(roots, total->scalar(), tolerance) << entry.path() << " " << metric.name << " from the callees up";
    }
  }
  EXPECT_GT(checked, 50U);
}

// A filter that leaves functions out makes rows of what it takes.
TEST(HpctoolkitViews, LoopsWhenAskedFor) {
  if (!fs::exists(data_directory())) GTEST_SKIP() << "no shared data";
  auto dataset = open_dataset(data_directory() / "b-loops-cputime", make_work());
  ASSERT_TRUE(dataset.ok());
  auto profile = (*dataset)->profile();
  ASSERT_TRUE(profile.ok());
  const Definitions& defs = (*profile)->defs();
  auto flat = flat_profile(**profile, {MetricId(0), {}, region_filter(defs, {"loop at *"})}, GroupBy::region);
  ASSERT_TRUE(flat.ok());
  ASSERT_FALSE(flat->rows.empty());
  for (const auto& row : flat->rows) EXPECT_EQ(defs.region(row.region).role, "loop");
}

TEST(HpctoolkitViews, CalleesThroughLoops) {
  if (!fs::exists(data_directory())) GTEST_SKIP() << "no shared data";
  auto dataset = open_dataset(data_directory() / "b-small", make_work());
  ASSERT_TRUE(dataset.ok());
  auto profile = (*dataset)->profile();
  ASSERT_TRUE(profile.ok());
  const Definitions& defs = (*profile)->defs();
  auto found = inspect::routines(defs, {"main"});
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->size(), 1U);
  std::vector<std::string> callees;
  for (const auto& line : (*found)[0].lines) {
    if (line.part == inspect::RoutineLine::Part::callee) callees.push_back(defs.region_of(line.context).name);
  }
  // main calls spinsleep itself and through caller.
  std::sort(callees.begin(), callees.end());
  callees.erase(std::unique(callees.begin(), callees.end()), callees.end());
  EXPECT_EQ(callees, (std::vector<std::string>{"caller", "spinsleep"}));
}

}  // namespace
}  // namespace fathom::hpctoolkit
