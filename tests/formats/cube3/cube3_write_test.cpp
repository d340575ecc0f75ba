#include <gtest/gtest.h>

#include "../../profile/memory_profile.hpp"
#include "../cube/dump_csv.hpp"
#include "formats/cube3/cube3_format.hpp"
#include "formats/profile_dataset.hpp"
#include "io/file.hpp"

namespace fathom {
namespace {

std::filesystem::path target(const char* name) { return std::filesystem::path(testing::TempDir()) / name; }

// Written and read back.
ProfilePtr round_trip(const ProfilePtr& profile, const char* name, bool compress = false) {
  const DatasetPtr dataset = make_profile_dataset(profile);
  const auto written = cube3::format().write(*dataset, target(name), {compress, {}});
  EXPECT_TRUE(written.ok()) << (written.ok() ? "" : written.error().text());
  return test::open_profile(target(name));
}

TEST(Cube3Write, KeepsTreesAndExactValues) {
  test::MemoryProfile make;
  const MetricId time = make.metric("time", ValueKind::f64, Scope::inclusive);
  const MetricId count = make.metric("count", ValueKind::u64, Scope::exclusive, time);
  make.context("main", "a<b>.c");
  make.context("main/\"quoted\" & <odd>");
  make.context("main/foo");
  make.values<double>(time, "main", {1.0 / 3, 2});
  make.values<double>(time, "main/foo", {0, 0.1});
  make.values<std::uint64_t>(count, "main/foo", {9007199254740993, 0});
  const ProfilePtr back = round_trip(make.build(), "small.cube");
  ASSERT_TRUE(back);
  const Definitions& defs = back->defs();
  ASSERT_EQ(defs.metrics.size(), 2u);
  EXPECT_EQ(defs.metric(MetricId(1)).parent, MetricId(0));
  EXPECT_EQ(defs.region_of(ContextId(1)).name, "\"quoted\" & <odd>");
  EXPECT_EQ(defs.regions[0].file, "a<b>.c");
  const auto times = compute(*back, MetricId(0), {{Flavour::Kind::inclusive, {}}, {}, {0, 2}, false});
  ASSERT_TRUE(times.ok());
  EXPECT_EQ(times->scalar(0, 0), 1.0 / 3);
  EXPECT_EQ(times->scalar(2, 1), 0.1);
  const auto counts = compute(*back, MetricId(1), {{}, {}, {0, 2}, false});
  ASSERT_TRUE(counts.ok());
  EXPECT_EQ(counts->at(2, 0).text(), "9007199254740993");
}

TEST(Cube3Write, LeavesOutWhatCube3CannotHold) {
  test::MemoryProfile make({"0", "1", "gpu"});
  make.defs().system.nodes.back().type = "accelerator stream";
  make.metric("smallest", ValueKind::min_f64);
  const MetricId time = make.metric("time", ValueKind::f64, Scope::exclusive, MetricId(0));
  make.context("main");
  make.values<double>(time, "main", {1, 2, 4});
  const ProfilePtr profile = make.build();
  const ProfilePtr back = round_trip(profile, "less.cube");
  ASSERT_TRUE(back);
  ASSERT_EQ(back->defs().metrics.size(), 1u);
  EXPECT_FALSE(back->defs().metric(MetricId(0)).parent.valid());
  EXPECT_EQ(back->defs().system.location_count(), 2u);
  std::string said;
  for (const Diagnostic& diagnostic : profile->work->diagnostics.all()) said += diagnostic.text + "\n";
  EXPECT_NE(said.find("no plain numbers: smallest"), std::string::npos) << said;
  EXPECT_NE(said.find("1 locations that are no threads; they are left out with 1 values"), std::string::npos) << said;
}

TEST(Cube3Write, LocationsThatAreNoThreadsAreALoss) {
  test::MemoryProfile make({"0", "counters"});
  make.defs().system.nodes.back().type = "metric";
  const MetricId power = make.metric("power");
  make.context("main");
  make.values<double>(power, "main", {0, 4});
  const auto profile = std::make_shared<Profile>(*make.build());
  ASSERT_TRUE(round_trip(profile, "counters.cube"));
  const auto said = profile->work->diagnostics.all();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].id, "cube3.locations_left_out");
  EXPECT_EQ(said[0].severity, Severity::data_loss);
  profile->work = make_work(true);
  const DatasetPtr dataset = make_profile_dataset(profile);
  EXPECT_FALSE(cube3::format().write(*dataset, target("strict.cube"), {false, {}}).ok());
  EXPECT_FALSE(std::filesystem::exists(target("strict.cube")));
}

TEST(Cube3Write, KeepsIds) {
  test::MemoryProfile make;
  make.metric("a");
  make.metric("b");
  make.defs().metrics[0].file_id = 1;
  make.defs().metrics[1].file_id = 0;
  make.context("main");
  make.values<double>(MetricId(0), "main", {1, 2});
  const ProfilePtr back = round_trip(make.build(), "ids.cube");
  ASSERT_TRUE(back);
  EXPECT_EQ(back->defs().metric(MetricId(0)).name, "a");
  EXPECT_EQ(back->defs().metric(MetricId(0)).file_id, 1u);
  EXPECT_EQ(compute(*back, MetricId(0), {{}, {}, {0, 2}, false})->scalar(0, 1), 2);
}

TEST(Cube3Write, AgreesWithTheReferenceDumps) {
  if (!std::filesystem::exists(test::shared_cube())) GTEST_SKIP() << "no shared data";
  for (const char* name : {"cube40", "threaded_f1"}) {
    SCOPED_TRACE(name);
    const auto folder = test::shared_cube() / name;
    const ProfilePtr profile = test::open_profile(folder / (std::string(name) + ".cubex"));
    ASSERT_TRUE(profile);
    const ProfilePtr back = round_trip(profile, "reference.cube.gz");
    ASSERT_TRUE(back);
    EXPECT_EQ(back->defs().system.topologies.size(), profile->defs().system.topologies.size());
    const std::string dump = test::read_text(folder / "cube_dump.excl.csv");
    EXPECT_GT(test::compare_with_dump(*back, dump, Flavour::Kind::exclusive), 0u);
  }
}

}  // namespace
}  // namespace fathom
