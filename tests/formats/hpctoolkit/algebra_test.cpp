// Profile algebra on databases: trees with loops and lines, several stored scopes, many locations.
#include "profile/algebra/algebra.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "formats/hpctoolkit/database_writer.hpp"
#include "formats/hpctoolkit/independent_reader.hpp"
#include "formats/registry.hpp"
#include "profile/algebra/reshape.hpp"
#include "profile/memory_profile.hpp"
#include "profile/views.hpp"
#include "temporary_directory.hpp"

namespace fathom::hpctoolkit {
namespace {

fs::path data_directory() { return fs::path(FATHOM_SHARED_DATA) / "hpctoolkit"; }

struct Opened {
  DatasetPtr dataset;
  ProfilePtr profile;
};

Opened open_at(const fs::path& path) {
  Opened out;
  auto dataset = open_dataset(path, make_work());
  EXPECT_TRUE(dataset.ok()) << path << (dataset.ok() ? "" : dataset.error().text());
  if (!dataset.ok()) return out;
  out.dataset = std::move(*dataset);
  auto profile = out.dataset->profile();
  EXPECT_TRUE(profile.ok());
  if (profile.ok()) out.profile = *profile;
  return out;
}

double total(const Profile& profile, MetricId metric) {
  auto value = metric_total(profile, metric, {});
  EXPECT_TRUE(value.ok());
  return value.ok() ? value->scalar() : std::nan("");
}

// Exclusive values of all rows of a flat profile.
double flat_sum(const Profile& profile, MetricId metric) {
  auto flat = flat_profile(profile, {metric, {}, {}}, GroupBy::region);
  EXPECT_TRUE(flat.ok());
  double out = 0;
  for (std::size_t i = 0; flat.ok() && i < flat->rows.size(); ++i) out += flat->exclusive.scalar(i, 0);
  return out;
}

std::vector<std::string> real_cases() {
  std::vector<std::string> out;
  std::error_code status;
  for (const auto& entry : fs::directory_iterator(data_directory(), status)) {
    if (entry.is_directory()) out.push_back(entry.path().filename().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

// Own values alone carry everything: totals and inclusive values of all contexts follow from them.
TEST(HpctoolkitAlgebra, StoredAsOwnValues) {
  if (real_cases().empty()) GTEST_SKIP() << "no shared data";
  for (const std::string& name : real_cases()) {
    const Opened opened = open_at(data_directory() / name);
    ASSERT_TRUE(opened.profile);
    auto own = algebra::store_as(opened.profile, Scope::exclusive);
    ASSERT_TRUE(own.ok());
    for (std::size_t m = 0; m < opened.profile->defs().metrics.size(); ++m) {
      const Metric& metric = opened.profile->defs().metrics[m];
      if (metric.derived() || metric.scopes.size() < 2) continue;
      Selection selection;
      selection.flavour.kind = Flavour::Kind::inclusive;
      selection.locations = all_locations(opened.profile->defs());
      selection.aggregate = true;
      auto before = compute(*opened.profile, MetricId(m), selection);
      auto after = compute(**own, MetricId(m), selection);
      ASSERT_TRUE(before.ok() && after.ok()) << name;
      for (std::size_t row = 0; row < before->rows(); ++row) {
        ASSERT_NEAR(after->scalar(row, 0), before->scalar(row, 0), 1e-9 * std::abs(before->scalar(row, 0)))
            << name << " " << metric.name << " context " << row;
      }
    }
  }
}

// Whatever is hidden, the time stays: in the total, and in what the rows of a flat profile add up to.
TEST(HpctoolkitAlgebra, HidingMovesValuesToCallers) {
  if (real_cases().empty()) GTEST_SKIP() << "no shared data";
  for (const std::string& name : real_cases()) {
    if (name == "c-empty" || name == "c-nometric") continue;
    const Opened opened = open_at(data_directory() / name);
    ASSERT_TRUE(opened.profile);
    const Definitions& defs = opened.profile->defs();
    const MetricId metric(0U);
    // The function with the largest exclusive value that is no root, and all loops and lines.
    auto flat = flat_profile(*opened.profile, {metric, {}, {}}, GroupBy::region);
    ASSERT_TRUE(flat.ok());
    std::string hottest;
    for (const std::size_t row : flat->ranking(false)) {
      bool root = false;
      for (const ContextId id : defs.contexts.roots()) root = root || defs.region_of(id).name == flat->rows[row].name;
      if (root || flat->rows[row].name.find_first_of("*?[") != std::string::npos) continue;
      hottest = flat->rows[row].name;
      break;
    }
    ASSERT_FALSE(hottest.empty()) << name;
    std::vector<algebra::CutOptions> all(4);
    all[0].elide = {hottest};
    all[1].prune = {hottest};
    all[2].fold = {hottest};
    bool lines = false;
    for (const Region& region : defs.regions) lines = lines || region.role == "line";
    if (lines) {
      for (const Region& region : defs.regions) {
        if (region.role == "line" || region.role == "loop") all[3].elide.push_back(region.name);
      }
    }
    const double before = total(*opened.profile, metric);
    for (const algebra::CutOptions& options : all) {
      if (options.elide.empty() && options.prune.empty() && options.fold.empty()) continue;
      auto cut = algebra::cut(opened.profile, options);
      ASSERT_TRUE(cut.ok()) << name;
      EXPECT_LE((*cut)->defs().contexts.size(), defs.contexts.size());
      EXPECT_NEAR(total(**cut, metric), before, 1e-9 * std::abs(before)) << name << " " << hottest;
      EXPECT_NEAR(flat_sum(**cut, metric), before, 1e-9 * std::abs(before)) << name << " " << hottest;
      if (!options.fold.empty()) continue;
      for (const Context& context : (*cut)->defs().contexts.all()) {
        EXPECT_NE((*cut)->defs().region(context.region).name, options.elide.empty() ? hottest : options.elide[0]);
      }
    }
  }
}

// The same profile as a Cube report and as a database again: every value stays.
TEST(HpctoolkitAlgebra, ThroughCubeAndBack) {
  if (real_cases().empty()) GTEST_SKIP() << "no shared data";
  TemporaryDirectory directory;
  for (const char* name : {"b-small", "a-mpi24-stats", "b-openacc", "c-cpi", "b-mpi24-stats"}) {
    const Opened opened = open_at(data_directory() / name);
    const fs::path cube = directory / (std::string(name) + ".cubex");
    const fs::path database = directory / (std::string(name) + ".hpcdb");
    auto status = (*find_format("cube"))->write(*opened.dataset, cube, {});
    ASSERT_TRUE(status.ok()) << status.error().text();
    const Opened as_cube = open_at(cube);
    ASSERT_TRUE(write_database(*as_cube.dataset, Generation::meta, database).ok());
    const Opened back = open_at(database);
    for (std::size_t m = 0; m < opened.profile->defs().metrics.size(); ++m) {
      const Metric& metric = opened.profile->defs().metrics[m];
      const MetricId other = back.profile->defs().find_metric(metric.name);
      if (metric.derived() || metric.scopes.size() < 2 || total(*opened.profile, MetricId(m)) == 0) continue;
      ASSERT_TRUE(other.valid()) << name << " " << metric.name;
      Selection selection;
      selection.flavour.kind = Flavour::Kind::inclusive;
      selection.locations = all_locations(opened.profile->defs());
      auto before = compute(*opened.profile, MetricId(m), selection);
      auto after = compute(*back.profile, other, selection);
      ASSERT_TRUE(before.ok() && after.ok());
      ASSERT_EQ(after->rows(), before->rows());
      ASSERT_EQ(after->columns(), before->columns());
      for (std::size_t row = 0; row < before->rows(); ++row) {
        for (std::size_t i = 0; i < before->columns(); ++i) {
          ASSERT_NEAR(after->scalar(row, i), before->scalar(row, i), 1e-9 * std::abs(before->scalar(row, i)))
              << name << " " << metric.name << " context " << row << " location " << i;
        }
      }
    }
  }
}

// Locations of several inputs side by side, written with hardly any memory, read by the independent reader, which
// also works the summary profile out from first principles.
TEST(HpctoolkitAlgebra, JoinedLocationsAsOneDatabase) {
  TemporaryDirectory directory;
  std::vector<ProfilePtr> inputs;
  for (int k = 0; k < 5; ++k) {
    test::MemoryProfile made({"0", "1", "2"}, "rank " + std::to_string(k));
    const MetricId time = made.metric("time");
    const MetricId visits = made.metric("visits", ValueKind::u64);
    made.context("main");
    std::string path = "main";
    for (int depth = 0; depth < 40; ++depth) {
      // Every input has paths of its own and shared ones.
      const std::string name = depth % 3 == 0 ? "own" + std::to_string(k) + "_" : "shared";
      const std::string child = path + "/" + name + std::to_string(depth);
      made.context(child);
      made.values<double>(time, child, {0.5 + k, 0.0, 1.25 * depth});
      made.values<std::uint64_t>(visits, child, {static_cast<std::uint64_t>(k), 1, 0});
      if (depth % 2 == 0) path = child;
    }
    inputs.push_back(made.build());
  }
  auto joined = algebra::join_locations(inputs);
  ASSERT_TRUE(joined.ok()) << joined.error().text();
  EXPECT_EQ((*joined)->defs().system.location_count(), 15U);
  const auto expected = expected_values(**joined);
  double sum = 0;
  for (const ProfilePtr& input : inputs) sum += total(*input, MetricId(0U));
  EXPECT_NEAR(total(**joined, MetricId(0U)), sum, 1e-9 * sum);
  for (const Generation generation : {Generation::meta, Generation::xml}) {
    for (const std::uint64_t memory : {std::uint64_t{1} << 30, std::uint64_t{160} << 10}) {
      auto limited = std::make_shared<Profile>(**joined);
      limited->work = make_work(false, memory);
      const fs::path target = directory / "joined";
      auto status = write_database(*limited, nullptr, {}, generation, target);
      ASSERT_TRUE(status.ok()) << memory << ": " << status.error().text();
      expect_same(expected, read_independently(target), std::to_string(memory));
    }
  }
  // A budget that cannot hold one range of contexts is refused, not ignored.
  auto starved = std::make_shared<Profile>(**joined);
  starved->work = make_work(false, 1 << 10);
  EXPECT_FALSE(write_database(*starved, nullptr, {}, Generation::meta, directory / "starved").ok());
  EXPECT_FALSE(fs::exists(directory / "starved"));
}

// Databases of both generations side by side.
TEST(HpctoolkitAlgebra, JoinsRealDatabases) {
  if (real_cases().empty()) GTEST_SKIP() << "no shared data";
  TemporaryDirectory directory;
  std::vector<Opened> opened;
  algebra::Inputs inputs;
  for (const char* name : {"b-loops-cputime", "a-loops-cputime", "b-pingpong-mpi"}) {
    opened.push_back(open_at(data_directory() / name));
    inputs.push_back(opened.back().profile);
  }
  auto joined = algebra::join_locations(inputs);
  ASSERT_TRUE(joined.ok()) << joined.error().text();
  const auto expected = expected_values(**joined);
  ASSERT_TRUE(write_database(**joined, nullptr, {}, Generation::meta, directory / "all").ok());
  expect_same(expected, read_independently(directory / "all"), "joined");
  const Opened again = open_at(directory / "all");
  double sum = 0;
  for (const auto& input : inputs) sum += total(*input, input->defs().find_metric("CPUTIME (sec)"));
  EXPECT_NEAR(total(*again.profile, again.profile->defs().find_metric("CPUTIME (sec)")), sum, 1e-9 * sum);
}

}  // namespace
}  // namespace fathom::hpctoolkit
