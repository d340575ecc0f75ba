// Databases that are written, read again by ourselves and by an independent reader.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <map>
#include <random>

#include "base/parallel.hpp"
#include "base/text.hpp"
#include "formats/hpctoolkit/database.hpp"
#include "formats/hpctoolkit/database_writer.hpp"
#include "formats/hpctoolkit/independent_reader.hpp"
#include "formats/registry.hpp"
#include "io/file.hpp"
#include "profile/compute.hpp"
#include "profile/memory_profile.hpp"

namespace fathom::hpctoolkit {
namespace {

namespace fs = std::filesystem;

class HpctoolkitWrite : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = fs::temp_directory_path() / ("fathom_hpctoolkit_" + std::to_string(getpid()) + "_" +
                                              testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(directory_);
  }
  void TearDown() override { fs::remove_all(directory_); }
  fs::path directory_;
};

// A profile with loops, lines, inlined calls and recursion, own values only, three metrics, many locations.
ProfilePtr made_up_profile(std::size_t contexts, std::size_t locations, unsigned seed) {
  struct Own : ValueSource {
    std::map<std::tuple<std::uint32_t, std::uint32_t>, std::vector<std::pair<std::uint32_t, double>>> values;
    [[nodiscard]] Axis cheap_axis() const override { return Axis::context; }
    Result<void> scan(const Box& box, const RunVisitor& visit) const override {
      for (const auto& [key, list] : values) {
        const auto& [metric, context] = key;
        if (!box.contexts.contains(context)) continue;
        for (const StoredMetric& wanted : box.metrics) {
          if (wanted.metric.value != metric) continue;
          for (const auto& [location, value] : list) {
            if (!box.locations.contains(location)) continue;
            Run run;
            run.metric = wanted;
            run.context = ContextId(context);
            run.first = location;
            run.count = 1;
            run.values = reinterpret_cast<const std::byte*>(&value);
            FATHOM_CHECK(visit(run));
          }
        }
      }
      return {};
    }
  };
  std::mt19937 random(seed);
  auto defs = std::make_shared<Definitions>();
  const char* roles[] = {"function", "loop", "line", "function"};
  for (int i = 0; i < 40; ++i) {
    Region region;
    region.role = roles[i % 4];
    region.name = "r" + std::to_string(i) + " <&\">";
    region.file = i % 3 == 0 ? "" : "src/f" + std::to_string(i % 5) + ".c";
    region.module = i % 4 == 0 ? "/bin/app" : "";
    region.begin_line = i;
    defs->regions.push_back(region);
  }
  ContextTreeBuilder builder;
  for (std::size_t i = 0; i < contexts; ++i) {
    const auto parent = i < 3 ? ContextTreeBuilder::kRoot : static_cast<std::uint32_t>(random() % i);
    const RegionId region(i < 3 ? 4 * i : random() % 40);
    const std::string& role = defs->region(region).role;
    const Edge edge = parent == ContextTreeBuilder::kRoot ? Edge::call
                      : role == "function"                ? (random() % 4 == 0 ? Edge::inlined_call : Edge::call)
                                                          : Edge::lexical;
    builder.add(parent, region, i, static_cast<std::int64_t>(i), edge);
  }
  defs->contexts = std::move(builder).build();
  for (const char* name : {"time (sec)", "bytes", "hits"}) {
    Metric metric;
    metric.name = name;
    metric.scopes = {{Scope::own, ""}};
    defs->metrics.push_back(metric);
  }
  const auto node = defs->system.add({{}, SystemKind::node, "node", "n0", {}, {}, 0, {}, {}, {}});
  for (std::size_t i = 0; i < locations; ++i) {
    const auto process =
        defs->system.add({node, SystemKind::group, "process", "p", {}, static_cast<std::int64_t>(i), i, {}, {}, {}});
    defs->system.add_location({process, SystemKind::location, "thread", "t", {}, 0, i, {}, {}, {}});
  }
  auto source = std::make_shared<Own>();
  for (std::uint32_t context = 0; context < contexts; ++context) {
    for (std::uint32_t location = 0; location < locations; ++location) {
      if (random() % 5 == 0) {
        source->values[{random() % 3, context}].emplace_back(location, 1.0 + static_cast<double>(random() % 1000) / 8);
      }
    }
  }
  auto profile = std::make_shared<Profile>();
  profile->definitions = defs;
  profile->values = source;
  profile->name = "made up";
  profile->work = make_work();
  return profile;
}

TEST_F(HpctoolkitWrite, AMadeUpProfileIsReadByAnIndependentReader) {
  const ProfilePtr profile = made_up_profile(300, 17, 7);
  const auto expected = expected_values(*profile);
  for (const Generation generation : {Generation::meta, Generation::xml}) {
    const fs::path target = directory_ / (generation == Generation::meta ? "meta" : "xml");
    auto status = write_database(*profile, nullptr, {}, generation, target);
    ASSERT_TRUE(status.ok()) << status.error().text();
    const Printed printed = read_independently(target);
    expect_same(expected, printed, target.string());
    EXPECT_EQ(printed.parents.size(), profile->defs().contexts.size());
    for (std::size_t i = 0; i < profile->defs().contexts.size(); ++i) {
      const Context& context = profile->defs().contexts[ContextId(i)];
      EXPECT_EQ(printed.parents.at(std::to_string(i + 1)),
                std::to_string(context.parent.valid() ? context.parent.value + 1 : 0));
    }
    // And by ourselves: nothing to complain about, the same values.
    const auto work = make_work();
    auto again = open_dataset(target, work);
    ASSERT_TRUE(again.ok()) << again.error().text();
    ASSERT_TRUE((*again)->check().ok());
    EXPECT_FALSE(work->diagnostics.defective()) << work->diagnostics.all().front().text;
    auto reread = (*again)->profile();
    ASSERT_TRUE(reread.ok());
    EXPECT_EQ((*reread)->defs().path(ContextId(200)).empty(), false);
    const auto values = expected_values(**reread);
    ASSERT_EQ(values.size(), expected.size());
    for (const auto& [key, value] : expected) EXPECT_DOUBLE_EQ(values.at(key), value) << key;
  }
}

TEST_F(HpctoolkitWrite, DoesNotDependOnTheNumberOfThreadsOrTheMemory) {
  const ProfilePtr profile = made_up_profile(200, 9, 3);
  const auto bytes_of = [&](const fs::path& path) {
    auto blob = map_file(path);
    EXPECT_TRUE(blob.ok());
    return std::string(blob->text());
  };
  for (const auto& [threads, name] : {std::pair{1U, "one"}, std::pair{3U, "three"}}) {
    const Execution execution(threads);
    const ExecutionScope scope(execution);
    ASSERT_TRUE(write_database(*profile, nullptr, {}, Generation::meta, directory_ / name).ok());
  }
  auto small = std::make_shared<Profile>(*profile);
  small->work = make_work(false, 400 << 10);
  auto status = write_database(*small, nullptr, {}, Generation::meta, directory_ / "small");
  ASSERT_TRUE(status.ok()) << status.error().text();
  for (const char* file : {"meta.db", "profile.db", "cct.db"}) {
    EXPECT_EQ(bytes_of(directory_ / "one" / file), bytes_of(directory_ / "three" / file)) << file;
    EXPECT_EQ(bytes_of(directory_ / "one" / file), bytes_of(directory_ / "small" / file)) << file;
  }
}

TEST_F(HpctoolkitWrite, RealDatabasesSurviveTheWayToTheOtherGenerationAndBack) {
  const fs::path data = fs::path(FATHOM_SHARED_DATA) / "hpctoolkit";
  if (!fs::exists(data)) GTEST_SKIP() << "no reference data at " << data;
  for (const char* name :
       {"b-small", "b0-multithread", "a-small", "a-loops-cputime-stats", "a1-loops-cputime", "b-loops-cuda"}) {
    const auto work = make_work();
    auto original = open_dataset(data / name, work);
    ASSERT_TRUE(original.ok());
    auto profile = (*original)->profile();
    ASSERT_TRUE(profile.ok());
    const auto expected = expected_values(**profile);
    const Generation other = name[0] == 'a' ? Generation::meta : Generation::xml;
    auto status = write_database(**original, other, directory_ / name);
    ASSERT_TRUE(status.ok()) << name << ": " << status.error().text();
    expect_same(expected, read_independently(directory_ / name), name);
    auto written = open_dataset(directory_ / name, work);
    ASSERT_TRUE(written.ok()) << name;
    EXPECT_EQ((*written)->format().name, other == Generation::meta ? "hpctoolkit" : "hpctoolkit-xml");
    const fs::path back = directory_ / (std::string(name) + "-back");
    status = write_database(**written, other == Generation::meta ? Generation::xml : Generation::meta, back);
    ASSERT_TRUE(status.ok()) << name;
    expect_same(expected, read_independently(back), back.string());
    // Traces: the same samples of the same contexts.
    if ((*original)->levels().size() < 2) continue;
    auto again = open_dataset(back, work);
    ASSERT_TRUE(again.ok());
    auto before = (*original)->trace();
    auto after = (*again)->trace();
    ASSERT_TRUE(before.ok() && after.ok()) << name;
    for (std::size_t i = 0; i < (*before)->location_count(); ++i) {
      auto a = (*before)->open(LocationId(i), {});
      auto b = (*after)->open(LocationId(i), {});
      ASSERT_TRUE(a.ok() && b.ok());
      EventCursor x(std::move(*a));
      EventCursor y(std::move(*b));
      for (;;) {
        const Event* e = x.next();
        const Event* f = y.next();
        ASSERT_EQ(e == nullptr, f == nullptr) << name;
        if (e == nullptr) break;
        ASSERT_EQ(e->time_ns, f->time_ns);
        ASSERT_EQ(e->name, f->name) << name;
      }
    }
  }
}

// The summary profile of the reference writer has the right lex_aware values: ours must come to the same sums.
TEST_F(HpctoolkitWrite, WorksOutLexAwareAsTheReferenceSummaryHasIt) {
  const fs::path data = fs::path(FATHOM_SHARED_DATA) / "hpctoolkit";
  if (!fs::exists(data)) GTEST_SKIP() << "no reference data at " << data;
  for (const char* name : {"b-mpi24-stats", "b-cpi-mpi", "b-openacc"}) {
    const auto work = make_work();
    auto original = open_dataset(data / name, work);
    ASSERT_TRUE(original.ok());
    ASSERT_TRUE(write_database(**original, Generation::meta, directory_ / name).ok());
    auto written = open_dataset(directory_ / name, work);
    ASSERT_TRUE(written.ok());
    const auto sums = [](Dataset& dataset) {
      std::map<std::tuple<std::string, std::uint32_t>, double> out;
      const ProfilePtr profile = *dataset.profile();
      const auto statistics = profile->statistics();
      for (const StoredStatistic& one : *statistics) {
        const Metric& metric = profile->defs().metric(one.metric.metric);
        if (one.statistic != "sum" || metric.scopes[one.metric.scope].name != "lex_aware") continue;
        out[{metric.name, one.context.value}] = one.value;
      }
      return out;
    };
    const auto expected = sums(**original);
    const auto found = sums(**written);
    EXPECT_GT(expected.size(), 10U) << name;
    EXPECT_EQ(found.size(), expected.size()) << name;
    for (const auto& [key, value] : expected) {
      const auto same = found.find(key);
      ASSERT_NE(same, found.end()) << name << " context " << std::get<1>(key);
      EXPECT_NEAR(same->second, value, 1e-9 * std::abs(value)) << name << " context " << std::get<1>(key);
    }
  }
}

// What a call takes itself may be tiny beside what it calls: 1,000 of 3e15 cycles are no rounding.
TEST_F(HpctoolkitWrite, KeepsSmallExclusivePartsOfLargeInclusiveValues) {
  constexpr std::uint64_t kLarge = 3'000'000'000'000'000;
  const double endless = std::numeric_limits<double>::infinity();
  test::MemoryProfile make;
  const MetricId cycles = make.metric("cycles", ValueKind::u64, Scope::inclusive);
  const MetricId time = make.metric("time", ValueKind::f64, Scope::inclusive);
  const MetricId more = make.metric("more");
  make.context("main");
  make.context("main/foo");
  make.values<std::uint64_t>(cycles, "main", {kLarge, kLarge});
  make.values<std::uint64_t>(cycles, "main/foo", {kLarge - 1000, kLarge});
  make.values<double>(time, "main", {3000.00000000125, 0.1 + 0.2});
  make.values<double>(time, "main/foo", {3000, 0.3});
  make.values<double>(more, "main", {endless, 1});
  make.values<double>(more, "main/foo", {1, 1});
  ASSERT_TRUE(write_database(*make.build(), nullptr, {}, Generation::meta, directory_ / "db").ok());
  const auto dataset = open_dataset(directory_ / "db", make_work());
  ASSERT_TRUE(dataset.ok());
  const auto profile = (*dataset)->profile();
  ASSERT_TRUE(profile.ok());
  const auto of_main = [&](const char* name, Flavour::Kind flavour) {
    const Definitions& defs = (*profile)->defs();
    std::size_t at = 0;
    while (defs.path(ContextId(at)) != "main") ++at;
    const auto cells =
        compute(**profile, defs.find_metric(name),
                {{flavour, {}}, {ContextId(at)}, {0, static_cast<std::uint32_t>(defs.system.location_count())}, false});
    EXPECT_TRUE(cells.ok());
    const std::size_t last = cells->columns() - 1;
    return std::pair(cells->scalar(0, last - 1), cells->scalar(0, last));
  };
  EXPECT_EQ(of_main("cycles", Flavour::Kind::exclusive), std::pair(1000.0, 0.0));
  const auto [small, rounding] = of_main("time", Flavour::Kind::exclusive);
  EXPECT_NEAR(small, 1.25e-9, 1e-12);
  EXPECT_EQ(rounding, 0);
  EXPECT_EQ(of_main("more", Flavour::Kind::inclusive), std::pair(endless, 2.0));
}

TEST_F(HpctoolkitWrite, LeavesForeignDirectoriesAlone) {
  fs::create_directories(directory_ / "mine");
  std::FILE* file = std::fopen((directory_ / "mine" / "letter.txt").c_str(), "w");
  std::fclose(file);
  const ProfilePtr profile = made_up_profile(10, 2, 1);
  const auto status = write_database(*profile, nullptr, {}, Generation::meta, directory_ / "mine");
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().text().find("left alone"), std::string::npos);
  EXPECT_TRUE(fs::exists(directory_ / "mine" / "letter.txt"));
  // An older database is replaced, and nothing is left beside it.
  ASSERT_TRUE(write_database(*profile, nullptr, {}, Generation::xml, directory_ / "db").ok());
  ASSERT_TRUE(write_database(*profile, nullptr, {}, Generation::meta, directory_ / "db").ok());
  EXPECT_FALSE(fs::exists(directory_ / "db" / "experiment.xml"));
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_), fs::directory_iterator()), 2);
}

}  // namespace
}  // namespace fathom::hpctoolkit
