// Databases of which one of the two value files is missing or damaged: the other one gives the same values.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/parallel.hpp"
#include "formats/registry.hpp"
#include "profile/compute.hpp"
#include "profile/views.hpp"
#include "temporary_directory.hpp"
#include "trace/trace.hpp"

namespace fathom::hpctoolkit {
namespace {

namespace fs = std::filesystem;

fs::path data_directory() { return fs::path(FATHOM_SHARED_DATA) / "hpctoolkit"; }

// (metric, scope, context, location) -> value, of everything that is stored.
std::map<std::string, double> all_values(const Profile& profile) {
  std::map<std::string, double> out;
  const Definitions& defs = profile.defs();
  for (std::size_t m = 0; m < defs.metrics.size(); ++m) {
    for (std::uint32_t scope = 0; scope < defs.metrics[m].scopes.size(); ++scope) {
      const StoredMetric metric{MetricId(m), scope};
      const IndexRange contexts{0, static_cast<std::uint32_t>(defs.contexts.size())};
      auto status =
          profile.values->scan({{&metric, 1}, contexts, all_locations(defs)}, [&](const Run& run) -> Result<void> {
            for (std::size_t i = 0; i < run.count; ++i) {
              const bool along_locations = run.along == Axis::location;
              const ContextId context = along_locations ? run.context : ContextId(run.positions[i]);
              const LocationId location = along_locations ? LocationId(run.positions[i]) : run.location;
              double value = 0;
              std::memcpy(&value, run.values + i * sizeof value, sizeof value);
              out[defs.metrics[m].name + "|" + std::to_string(scope) + "|" +
                  std::to_string(defs.contexts[context].file_id) + "|" + defs.system.location_label(location)] = value;
            }
            return {};
          });
      EXPECT_TRUE(status.ok());
    }
  }
  return out;
}

struct Opened {
  Work work = make_work();
  DatasetPtr dataset;
  ProfilePtr profile;
  [[nodiscard]] bool noted(const std::string& text) const {
    for (const Diagnostic& one : work->diagnostics.all()) {
      if (one.text.find(text) != std::string::npos) return true;
    }
    return false;
  }
};

Opened open_at(const fs::path& path) {
  Opened out;
  auto dataset = open_dataset(path, out.work);
  EXPECT_TRUE(dataset.ok()) << path << (dataset.ok() ? "" : dataset.error().text());
  if (!dataset.ok()) return out;
  out.dataset = std::move(*dataset);
  auto profile = out.dataset->profile();
  EXPECT_TRUE(profile.ok());
  if (profile.ok()) out.profile = *profile;
  return out;
}

void overwrite(const fs::path& file, std::streamoff at, const std::string& bytes) {
  std::fstream out(file, std::ios::binary | std::ios::in | std::ios::out);
  out.seekp(at);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

class HalfDatabase : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(data_directory())) GTEST_SKIP() << "no shared data";
    for (const auto& entry : fs::directory_iterator(data_directory())) {
      const std::string name = entry.path().filename().string();
      // Those of a1 have a zeroed cct.db.
      if (entry.is_directory() && (name[0] == 'a' || name[0] == 'b') && !name.starts_with("a1-"))
        names_.push_back(name);
    }
    std::sort(names_.begin(), names_.end());
  }
  fs::path copy(const std::string& name) {
    const fs::path to = directory_ / name;
    fs::remove_all(to);
    fs::copy(data_directory() / name, to, fs::copy_options::recursive);
    return to;
  }
  // Everything that `spoiled` holds must be what the complete database holds.
  void expect_same(const std::string& name, const fs::path& spoiled, const char* other) {
    const Opened whole = open_at(data_directory() / name);
    const Opened half = open_at(spoiled);
    ASSERT_TRUE(half.profile) << name;
    EXPECT_TRUE(half.noted(other)) << name << ": nothing says that " << other << " is used";
    EXPECT_EQ(all_values(*half.profile), all_values(*whole.profile)) << name << " from " << other;
    auto total = metric_total(*whole.profile, MetricId(0U), {});
    auto again = metric_total(*half.profile, MetricId(0U), {});
    ASSERT_TRUE(total.ok() && again.ok());
    EXPECT_NEAR(again->scalar(), total->scalar(), 1e-12 * std::abs(total->scalar()));
    auto view = bottom_up(*half.profile, {MetricId(0U), {}, {}});
    EXPECT_TRUE(view.ok());
  }
  TemporaryDirectory directory_;
  std::vector<std::string> names_;
};

TEST_F(HalfDatabase, WithoutContexts) {
  for (const std::string& name : names_) {
    const fs::path at = copy(name);
    fs::remove(at / "cct.db");
    expect_same(name, at, "profile.db");
  }
}

// A stream may have samples and no values. Its number is in trace.db alone then: here 3 instead of 1, at 0x40.
TEST_F(HalfDatabase, WithoutProfilesSamplesTellOfMore) {
  const fs::path at = copy("b-small");
  fs::remove(at / "profile.db");
  overwrite(at / "trace.db", 0x40, std::string("\3\0\0\0", 4));
  const Opened half = open_at(at);
  ASSERT_TRUE(half.profile);
  auto trace = half.dataset->trace();
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ((*trace)->location_count(), 3U);
  EXPECT_EQ((*trace)->known_records(LocationId(2U)), 13U);  // (244 - 88) / 12
  EXPECT_FALSE(half.noted("does not exist"));
}

TEST_F(HalfDatabase, WithoutProfiles) {
  for (const std::string& name : names_) {
    const fs::path at = copy(name);
    fs::remove(at / "profile.db");
    expect_same(name, at, "cct.db");
  }
}

TEST_F(HalfDatabase, DamagedHeaders) {
  for (const std::string& name : names_) {
    const fs::path at = copy(name);
    overwrite(at / "cct.db", 0x18, std::string(16, '\xFF'));
    expect_same(name, at, "profile.db");
    const fs::path again = copy(name);
    overwrite(again / "profile.db", 0, "garbage");
    expect_same(name, again, "cct.db");
    fs::resize_file(again / "profile.db", 0);
    expect_same(name, again, "cct.db");
  }
}

// A number of a profile in a damaged cct.db, of which there are thousands of possible places: no more locations are
// made than there may be, and values that have none are told.
TEST_F(HalfDatabase, ImpossibleProfileNumbers) {
  const fs::path at = copy("b-small");
  fs::remove(at / "profile.db");
  const std::uintmax_t size = fs::file_size(at / "cct.db");
  std::size_t told = 0;
  for (std::uintmax_t offset = 0x40; offset + 4 <= size; offset += 4) {
    fs::copy_file(data_directory() / "b-small" / "cct.db", at / "cct.db", fs::copy_options::overwrite_existing);
    fs::permissions(at / "cct.db", fs::perms::owner_write, fs::perm_options::add);
    overwrite(at / "cct.db", static_cast<std::streamoff>(offset), std::string("\xFF\xFF\xFF\x03", 4));
    const Work work = make_work();
    const auto dataset = open_dataset(at, work);
    if (!dataset.ok()) continue;
    const auto profile = (*dataset)->profile();
    ASSERT_TRUE(profile.ok());
    ASSERT_LE((*profile)->defs().system.location_count(), (1U << 16) + size);
    const auto all = work->diagnostics.all();
    told +=
        std::any_of(all.begin(), all.end(), [](const Diagnostic& one) { return one.id == "hpctoolkit.profile_number"; })
            ? 1
            : 0;
  }
  EXPECT_GT(told, 0U);
}

TEST_F(HalfDatabase, NeitherIsAnError) {
  const fs::path at = copy("b-small");
  fs::remove(at / "profile.db");
  fs::remove(at / "cct.db");
  auto dataset = open_dataset(at, make_work());
  ASSERT_FALSE(dataset.ok());
  EXPECT_NE(dataset.error().text().find("profile.db"), std::string::npos) << dataset.error().text();
}

// Sums over many profiles are the same bits whatever the number of threads.
TEST_F(HalfDatabase, ThreadsDoNotChangeSums) {
  const fs::path at = copy("b-mpi24-stats");
  fs::remove(at / "cct.db");
  const Opened half = open_at(at);
  ASSERT_TRUE(half.profile);
  const auto sums = [&](unsigned threads) {
    const Execution execution(threads);
    const ExecutionScope scope(execution);
    Selection selection;
    selection.flavour.kind = Flavour::Kind::inclusive;
    selection.locations = all_locations(half.profile->defs());
    selection.aggregate = true;
    auto cells = compute(*half.profile, MetricId(0U), selection);
    EXPECT_TRUE(cells.ok());
    std::vector<double> out;
    for (std::size_t i = 0; cells.ok() && i < cells->rows(); ++i) out.push_back(cells->scalar(i, 0));
    return out;
  };
  const auto one = sums(1);
  EXPECT_EQ(sums(2), one);
  EXPECT_EQ(sums(8), one);
}

}  // namespace
}  // namespace fathom::hpctoolkit
