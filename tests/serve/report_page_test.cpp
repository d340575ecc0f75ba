#include "serve/report_page.hpp"

#include <gtest/gtest.h>

#include "formats/registry.hpp"
#include "serve/assets.hpp"
#include "serve/report_timeline.hpp"

namespace fathom::serve {
namespace {

SystemTree nodes_with_ranks(std::size_t nodes, std::size_t ranks) {
  SystemTree system;
  for (std::size_t n = 0; n < nodes; ++n) {
    SystemNode node;
    node.name = "node" + std::to_string(n);
    const SystemNodeId parent = system.add(node);
    for (std::size_t r = 0; r < ranks; ++r) {
      SystemNode location;
      location.kind = SystemKind::location;
      location.parent = parent;
      system.add_location(location);
    }
  }
  return system;
}

TEST(ReportTimeline, ShowsAllRowsWhileTheyAreFew) {
  const ReportRows rows = report_rows(nodes_with_ranks(4, 4));
  EXPECT_EQ(rows.rows.size(), 16u);
  EXPECT_EQ(rows.rows.back(), "15");
  EXPECT_EQ(rows.text, "all 16 rows");
}

TEST(ReportTimeline, ShowsGroupsOfManyRows) {
  const SystemTree system = nodes_with_ranks(100, 100);
  const ReportRows rows = report_rows(system);
  ASSERT_EQ(rows.rows.size(), 100u);
  for (const std::string& row : rows.rows) {
    ASSERT_EQ(row.front(), 'g');
    EXPECT_TRUE(system.nodes[std::stoul(row.substr(1))].name.starts_with("node"));
  }
}

TEST(ReportTimeline, ShowsSomeOfManyRowsWithoutGroups) {
  const ReportRows rows = report_rows(nodes_with_ranks(1, 10000));
  ASSERT_EQ(rows.rows.size(), 256u);
  EXPECT_EQ(rows.rows[0], "0");
  EXPECT_EQ(rows.rows[128], "5000");
  EXPECT_EQ(rows.text, "256 of its 10000 rows, at equal distances");
}

TEST(ReportTimeline, LevelsBeginWithTheWholeInTwoTiles) {
  // 512 bins a tile: 1023 bins of 1 ns are the most that two tiles of the finest level hold.
  EXPECT_EQ(report_levels(1023), (std::vector<unsigned>{0}));
  EXPECT_EQ(report_levels(1024), (std::vector<unsigned>{1, 0}));
  EXPECT_EQ(report_levels(1'000'000'000), (std::vector<unsigned>{20, 19, 18}));
  EXPECT_EQ(report_levels(0), (std::vector<unsigned>{0}));
}

class ReportSize : public testing::Test {
 protected:
  void SetUp() override {
    if (assets().empty()) GTEST_SKIP() << "built without the page";
    auto dataset = open_dataset(std::string(FATHOM_SOURCE_DIR) + "/examples/ring", make_work());
    ASSERT_TRUE(dataset.ok());
    std::vector<DatasetPtr> all;
    all.push_back(*std::move(dataset));
    viewer = std::make_unique<Viewer>(std::move(all));
  }
  static std::size_t tiles(const ReportPage& page) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = page.html.find("data-question=\"0/tile?", at)) != std::string::npos; ++at) ++count;
    return count;
  }
  std::unique_ptr<Viewer> viewer;
};

TEST_F(ReportSize, StaysBelowTheLimitAndSaysWhatIsMissing) {
  const auto whole = make_report_page(*viewer);
  ASSERT_TRUE(whole.ok());
  EXPECT_LE(whole->html.size(), 10'000'000u);
  EXPECT_GT(tiles(*whole), 5u);
  EXPECT_TRUE(whole->left_out.empty());
  // Whatever the limit: the file keeps it, and what does not fit is named.
  std::size_t fewest = tiles(*whole);
  for (const std::size_t part : {90, 50, 8}) {
    ReportPageOptions options;
    const auto bare = whole->html.size() - (whole->html.rfind("<script type=\"module\">") -
                                            whole->html.find("<script type=\"application/octet-stream\""));
    options.most_bytes = bare + 20000 + (whole->html.size() - bare) * part / 100;
    const auto limited = make_report_page(*viewer, options);
    ASSERT_TRUE(limited.ok()) << part;
    EXPECT_LE(limited->html.size(), options.most_bytes) << part;
    EXPECT_FALSE(limited->left_out.empty()) << part;
    EXPECT_LE(tiles(*limited), fewest) << part;
    fewest = tiles(*limited);
  }
  EXPECT_LT(fewest, tiles(*whole));
}

}  // namespace
}  // namespace fathom::serve
