#include <gtest/gtest.h>

#include <filesystem>

#include "formats/registry.hpp"
#include "profile/compute.hpp"

namespace fathom {
namespace {

const std::filesystem::path kData = std::filesystem::path(FATHOM_SHARED_DATA) / "cube";

TEST(CubeOpen, ValuesOfASmallProfile) {
  if (!std::filesystem::exists(kData)) GTEST_SKIP() << "no reference data at " << kData;
  auto dataset = open_dataset(kData / "threaded_f1" / "threaded_f1.cubex", make_work());
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  EXPECT_EQ((*dataset)->format().name, "cube");
  auto opened = (*dataset)->profile();
  ASSERT_TRUE(opened.ok());
  const Profile& profile = **opened;
  const MetricId visits = profile.defs().find_metric("visits");
  ASSERT_TRUE(visits.valid());
  Selection selection;
  selection.flavour.kind = Flavour::Kind::inclusive;
  selection.locations = all_locations(profile.defs());
  auto cells = compute(profile, visits, selection);
  ASSERT_TRUE(cells.ok()) << cells.error().text();
  const std::vector<std::string> expected = {"23", "6", "23", "6"};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(cells->at(0, i).text(), expected[i]);
}

}  // namespace
}  // namespace fathom
