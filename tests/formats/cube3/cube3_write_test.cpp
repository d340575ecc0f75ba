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

TEST(Cube3Write, RewritingKeepsIdsWithGaps) {
  const std::string text = R"(<cube version="3.0">
  <metrics><metric id="4"><uniq_name>time</uniq_name><dtype>FLOAT</dtype></metric></metrics>
  <program><region id="10" mod="x.c" begin="1" end="2"><name>main</name></region>
    <cnode id="3" calleeId="10"><cnode id="100" calleeId="10"></cnode></cnode></program>
  <system><machine Id="0"><name>m</name><node Id="0"><name>n</name><process Id="0"><rank>0</rank>
    <thread Id="2"><rank>0</rank></thread><thread Id="5"><rank>1</rank></thread></process></node></machine></system>
  <severity><matrix metricId="4"><row cnodeId="100">7 8</row></matrix></severity></cube>)";
  auto dataset = cube3::format().open(Source::of(Blob::own("gaps.cube", text)), make_work());
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  ASSERT_TRUE(cube3::format().write(**dataset, target("gaps.cube"), {false, {}}).ok());
  const ProfilePtr back = test::open_profile(target("gaps.cube"));
  ASSERT_TRUE(back);
  const Definitions& defs = back->defs();
  EXPECT_EQ(defs.metrics[0].file_id, 4u);
  EXPECT_EQ(defs.regions[0].file_id, 10u);
  EXPECT_EQ(defs.contexts[ContextId(0)].file_id, 3u);
  EXPECT_EQ(defs.contexts[ContextId(1)].file_id, 100u);
  EXPECT_EQ(defs.system.location(LocationId(1)).file_id, 5u);
  EXPECT_EQ(compute(*back, MetricId(0), {{}, {}, {0, 2}, false})->scalar(1, 1), 8);
}

TEST(Cube3Write, RewritingKeepsTheOrderOfThreads) {
  const std::string text = R"(<cube version="3.0">
  <metrics><metric id="0"><uniq_name>time</uniq_name><dtype>FLOAT</dtype></metric></metrics>
  <program><region id="0" mod="x.c" begin="1" end="2"><name>main</name></region><cnode id="0" calleeId="0"></cnode></program>
  <system><machine Id="0"><name>m</name><node Id="0"><name>n</name><process Id="0"><rank>0</rank>
    <thread Id="2"><rank>0</rank></thread><thread Id="0"><rank>1</rank></thread>
    <thread Id="1"><rank>2</rank></thread></process></node></machine></system>
  <severity><matrix metricId="0"><row cnodeId="0">7 8 9</row></matrix></severity></cube>)";
  auto dataset = cube3::format().open(Source::of(Blob::own("order.cube", text)), make_work());
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  ASSERT_TRUE(cube3::format().write(**dataset, target("order.cube"), {false, {}}).ok());
  const std::string written = test::read_text(target("order.cube"));
  std::vector<std::size_t> places;
  for (const char* id : {"<thread Id=\"2\">", "<thread Id=\"0\">", "<thread Id=\"1\">"})
    places.push_back(written.find(id));
  EXPECT_TRUE(std::is_sorted(places.begin(), places.end()));
  // Values are in the order of the ids, whatever the document's.
  const ProfilePtr back = test::open_profile(target("order.cube"));
  ASSERT_TRUE(back);
  for (const std::size_t id : {0, 1, 2}) {
    const LocationId location(id);
    EXPECT_EQ(back->defs().system.location(location).file_id, id);
    EXPECT_EQ(back->defs().system.location(location).rank, (id + 1) % 3);
    EXPECT_EQ(compute(*back, MetricId(0), {{}, {}, {0, 3}, false})->scalar(0, id), 7.0 + static_cast<double>(id));
  }
}

TEST(Cube3Write, PlacesWithoutLocationsAreTold) {
  test::MemoryProfile make;
  SystemNode node;
  node.type = "node";
  node.name = "idle";
  node.parent = SystemNodeId(0);
  const SystemNodeId idle = make.defs().system.add(node);
  SystemNode process;
  process.kind = SystemKind::group;
  process.type = "process";
  process.parent = idle;
  make.defs().system.add(process);
  const MetricId time = make.metric("time");
  make.context("main");
  make.values<double>(time, "main", {1, 2});
  const auto profile = std::make_shared<Profile>(*make.build());
  profile->work = make_work();
  ASSERT_TRUE(round_trip(profile, "idle.cube"));
  const auto said = profile->work->diagnostics.all();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said[0].text.find("2 places in the system without threads"), std::string::npos) << said[0].text;
}

TEST(Cube3Write, IntegersBeyondCube3AreTold) {
  test::MemoryProfile make;
  const MetricId count = make.metric("count", ValueKind::u64);
  make.context("main");
  make.values<std::uint64_t>(count, "main", {18446744073709551615U, 9223372036854775807U});
  const auto profile = std::make_shared<Profile>(*make.build());
  profile->work = make_work();
  const ProfilePtr back = round_trip(profile, "large.cube");
  ASSERT_TRUE(back);
  const auto said = profile->work->diagnostics.all();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].id, "cube3.integer");
  EXPECT_EQ(said[0].count, 1u);
  const auto counts = compute(*back, MetricId(0), {{}, {}, {0, 2}, false});
  EXPECT_EQ(counts->at(0, 0).text(), "9223372036854775807");
  EXPECT_EQ(counts->at(0, 1).text(), "9223372036854775807");
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
