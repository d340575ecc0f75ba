// The native layer seen from outside: versions, copies, dumps, sources, statistics that are wrong in the file.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "formats/hpctoolkit/database_writer.hpp"
#include "formats/hpctoolkit/mapping.hpp"
#include "formats/registry.hpp"
#include "formats/source_text.hpp"
#include "profile/memory_profile.hpp"
#include "profile/source_lines.hpp"
#include "temporary_directory.hpp"

namespace fathom::hpctoolkit {
namespace {

namespace fs = std::filesystem;

fs::path data_directory() { return fs::path(FATHOM_SHARED_DATA) / "hpctoolkit"; }

std::string bytes_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

void overwrite(const fs::path& file, std::streamoff at, const std::string& bytes) {
  std::fstream out(file, std::ios::binary | std::ios::in | std::ios::out);
  out.seekp(at);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string dump_of(Dataset& dataset, std::vector<std::string> sections) {
  std::string out;
  DumpOptions options;
  options.sections = std::move(sections);
  auto status = dataset.dump(options, [&](std::string_view text) {
    out += text;
    return true;
  });
  EXPECT_TRUE(status.ok());
  return out;
}

class HpctoolkitNative : public testing::Test {
 protected:
  fs::path copy(const std::string& name) {
    const fs::path to = directory_ / name;
    fs::remove_all(to);
    fs::copy(data_directory() / name, to, fs::copy_options::recursive);
    return to;
  }
  DatasetPtr open(const fs::path& path) {
    auto dataset = open_dataset(path, work_);
    EXPECT_TRUE(dataset.ok()) << path << (dataset.ok() ? "" : dataset.error().text());
    return dataset.ok() ? std::move(*dataset) : nullptr;
  }
  TemporaryDirectory directory_;
  Work work_ = make_work();
};

// A pre-release description without contexts: no pointer leads into its context section.
TEST_F(HpctoolkitNative, PrereleaseWithoutContexts) {
  if (!fs::exists(data_directory())) GTEST_SKIP() << "no shared data";
  const fs::path at = copy("b0-loop-inline");
  const std::string meta = bytes_of(at / "meta.db");
  std::uint64_t size = 0;
  std::uint64_t section = 0;
  std::memcpy(&size, meta.data() + 0x40, 8);
  std::memcpy(&section, meta.data() + 0x48, 8);
  const std::uint64_t end = section + size;
  fs::permissions(at / "meta.db", fs::perms::owner_write, fs::perm_options::add);
  overwrite(at / "meta.db", static_cast<std::streamoff>(section), std::string(8, '\0'));
  overwrite(at / "meta.db", static_cast<std::streamoff>(section + 8), {reinterpret_cast<const char*>(&end), 8});
  const DatasetPtr dataset = open(at);
  ASSERT_TRUE(dataset);
  auto profile = dataset->profile();
  ASSERT_TRUE(profile.ok());
  EXPECT_EQ((*profile)->defs().contexts.size(), 0U);
  EXPECT_EQ((*profile)->defs().metrics[0].name, "cycles");
}

// A metric of one scope has no suffix: its accumulator says which scope it is.
TEST_F(HpctoolkitNative, TheScopeOfAMetricWithoutSuffix) {
  const Blob xml = Blob::own("experiment.xml", R"xml(<HPCToolkitExperiment version="4.0"><SecCallPathProfile><SecHeader>
<MetricTable><Metric i="1" o="1" n="T:PARTIAL:0" t="exclusive" show="4"><MetricFormula t="combine" frm="sum($1, $1)"/>
</Metric></MetricTable><MetricDBTable><MetricDB i="1" n="T"/></MetricDBTable></SecHeader><SecCallPathProfileData/>
</SecCallPathProfile></HPCToolkitExperiment>)xml");
  const auto native = ExperimentXml::read(xml, work_);
  ASSERT_TRUE(native.ok());
  const auto mapping = map_xml(*native, work_);
  ASSERT_TRUE(mapping.ok());
  ASSERT_EQ(mapping->definitions->metrics.size(), 1U);
  ASSERT_EQ(mapping->definitions->metrics[0].scopes.size(), 1U);
  EXPECT_EQ(mapping->definitions->metrics[0].scopes[0].scope, Scope::exclusive);
}

// The published document says 4.0 where the writers wrote 1.0: what counts is the structure.
TEST_F(HpctoolkitNative, VersionsOfTheDocument) {
  if (!fs::exists(data_directory())) GTEST_SKIP() << "no shared data";
  const fs::path at = copy("a-small");
  for (const char* file : {"profile.db", "cct.db", "trace.db"}) overwrite(at / file, 0x10, std::string("\x04\x00", 2));
  const auto changed = open(at);
  const auto original = open(data_directory() / "a-small");
  ASSERT_TRUE(changed && original);
  for (const char* section : {"cct", "trace"}) {
    EXPECT_EQ(dump_of(*changed, {section}), dump_of(*original, {section}));
  }
  EXPECT_FALSE(work_->diagnostics.defective());
}

TEST_F(HpctoolkitNative, LaterMinorVersionsAreRead) {
  if (!fs::exists(data_directory())) GTEST_SKIP() << "no shared data";
  const fs::path at = copy("b-small");
  for (const char* file : {"meta.db", "profile.db", "cct.db", "trace.db"}) overwrite(at / file, 0x0F, "\x07");
  const auto changed = open(at);
  ASSERT_TRUE(changed);
  EXPECT_EQ(changed->version(), "4.7");
  EXPECT_EQ(dump_of(*changed, {"cct"}), dump_of(*open(data_directory() / "b-small"), {"cct"}));
  overwrite(at / "meta.db", 0x0E, "\x05");
  auto refused = open_dataset(at, make_work());
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().text().find("5"), std::string::npos) << refused.error().text();
}

TEST_F(HpctoolkitNative, TheSameFormatAgainIsTheSameBytes) {
  if (!fs::exists(data_directory())) GTEST_SKIP() << "no shared data";
  for (const char* name : {"b-small", "a-small", "b-pingpong-mpi"}) {
    const auto dataset = open(data_directory() / name);
    ASSERT_TRUE(dataset);
    const fs::path target = directory_ / (std::string(name) + "-again");
    auto done = dataset->rewrite(target, {});
    ASSERT_TRUE(done.ok() && *done) << name;
    std::size_t files = 0;
    for (const auto& entry : fs::recursive_directory_iterator(data_directory() / name)) {
      if (!entry.is_regular_file()) continue;
      ++files;
      EXPECT_EQ(bytes_of(target / fs::relative(entry.path(), data_directory() / name)), bytes_of(entry.path()))
          << entry.path();
    }
    EXPECT_GE(files, 4U);
  }
}

// A dump by profile and a dump by context list the same values.
TEST_F(HpctoolkitNative, DumpsOfBothFilesAgree) {
  if (!fs::exists(data_directory())) GTEST_SKIP() << "no shared data";
  for (const char* name : {"a-loops-cputime", "b-cpi-mpi", "b0-multithread"}) {
    const auto dataset = open(data_directory() / name);
    ASSERT_TRUE(dataset);
    std::set<std::string> by_profile;
    std::set<std::string> by_context;
    const auto collect = [](const std::string& text, bool profiles, std::set<std::string>& out) {
      std::istringstream in(text);
      std::string outer;
      std::string inner;
      bool summary = false;
      for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::string word;
        std::string number;
        words >> word >> number;
        if (line.starts_with("      ")) {
          std::string value;
          words >> value;
          if (!summary)
            out.insert((profiles ? outer + " " + inner + " " + number : number + " " + outer + " " + inner) + " = " +
                       value);
        } else if (line.starts_with("    ")) {
          inner = number;
        } else if (line.starts_with("  ")) {
          outer = number;
          summary = line.find(" summary ") != std::string::npos || (profiles && number == "0");
        }
      }
    };
    collect(dump_of(*dataset, {"profile"}), true, by_profile);
    collect(dump_of(*dataset, {"cct"}), false, by_context);
    EXPECT_GT(by_profile.size(), 100U) << name;
    EXPECT_EQ(by_profile, by_context) << name;
  }
}

TEST_F(HpctoolkitNative, DumpNamesTheSectionsItHas) {
  test::MemoryProfile made;
  made.values<double>(made.metric("time"), (made.context("main"), "main"), {1.0, 2.0});
  ASSERT_TRUE(write_database(*made.build(), nullptr, {}, Generation::xml, directory_ / "db").ok());
  const auto dataset = open(directory_ / "db");
  ASSERT_TRUE(dataset);
  EXPECT_NE(dump_of(*dataset, {}).find("PF id=1"), std::string::npos) << dump_of(*dataset, {});
  DumpOptions options;
  options.sections = {"meta"};
  auto status = dataset->dump(options, [](std::string_view) { return true; });
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().hint().find("experiment, profile, cct, trace"), std::string::npos);
}

// Statistics of the file that are wrong are shown right, and it is said that they differ.
TEST_F(HpctoolkitNative, WrongStatisticsAreRecomputed) {
  if (!fs::exists(data_directory())) GTEST_SKIP() << "no shared data";
  for (const char* name : {"b-mpi24-stats", "a-mpi24-stats", "b-small-stats"}) {
    work_ = make_work();
    const auto dataset = open(data_directory() / name);
    ASSERT_TRUE(dataset);
    const ProfilePtr profile = *dataset->profile();
    const Definitions& defs = profile->defs();
    auto statistics = profile->statistics();
    ASSERT_TRUE(statistics.ok());
    std::map<std::string, std::size_t> seen;
    for (const StoredStatistic& one : *statistics) {
      const Metric& metric = defs.metric(one.metric.metric);
      const StoredScope& scope = metric.scopes[one.metric.scope];
      if (scope.scope == Scope::named) continue;
      Selection selection;
      selection.flavour = {Flavour::Kind::named, scope.name};
      selection.contexts = {one.context};
      selection.locations = all_locations(defs);
      auto cells = compute(*profile, one.metric.metric, selection);
      ASSERT_TRUE(cells.ok());
      double count = 0;
      double sum = 0;
      double squares = 0;
      double least = HUGE_VAL;
      double most = -HUGE_VAL;
      for (std::size_t i = 0; i < cells->columns(); ++i) {
        const double x = cells->scalar(0, i);
        if (x == 0) continue;
        ++count;
        sum += x;
        squares += x * x;
        least = std::min(least, x);
        most = std::max(most, x);
      }
      if (count == 0) continue;  // only in a subtree that the file has not
      const double mean = sum / count;
      const double deviation = std::sqrt(std::max(0.0, squares / count - mean * mean));
      double expected = std::nan("");
      if (one.statistic == "sum") expected = sum;
      if (one.statistic == "sum of squares") expected = squares;
      if (one.statistic == "min") expected = least;
      if (one.statistic == "max") expected = most;
      if (one.statistic == "mean") expected = mean;
      if (one.statistic == "stddev") expected = deviation;
      if (one.statistic == "cfvar") expected = deviation / mean;
      if (std::isnan(expected)) continue;
      ++seen[one.statistic];
      // Deviations of nearly equal numbers are what rounding leaves.
      ASSERT_NEAR(one.value, expected,
                  1e-9 * std::abs(expected) + 1e-7 * std::abs(one.statistic == "cfvar"    ? 1
                                                              : one.statistic == "stddev" ? mean
                                                                                          : 0))
          << name << " " << metric.name << " " << scope.name << " " << one.statistic;
    }
    for (const char* statistic : {"sum", "sum of squares", "min", "max", "mean", "stddev"}) {
      EXPECT_GT(seen[statistic], 0U) << name << " " << statistic;
    }
    bool said = false;
    for (const Diagnostic& one : work_->diagnostics.all()) {
      said =
          said || (one.id == "hpctoolkit.stored_statistic" && one.text.find("'sum of squares'") != std::string::npos);
    }
    EXPECT_TRUE(said) << name;
  }
}

TEST_F(HpctoolkitNative, ClassicFlatProfilesAreRefused) {
  fs::create_directories(directory_ / "flat");
  std::ofstream(directory_ / "flat/experiment.xml")
      << "<?xml version=\"1.0\"?>\n<HPCToolkitExperiment version=\"2.0\"><Header n=\"x\"/><SecFlatProfile i=\"0\" "
         "n=\"x\"><SecHeader/><SecFlatProfileData/></SecFlatProfile></HPCToolkitExperiment>\n";
  auto dataset = open_dataset(directory_ / "flat", make_work());
  ASSERT_FALSE(dataset.ok());
  EXPECT_NE(dataset.error().text().find("flat profile"), std::string::npos) << dataset.error().text();
}

TEST_F(HpctoolkitNative, FindsSources) {
  fs::create_directories(directory_ / "db/src/home/me");
  std::ofstream(directory_ / "db/src/home/me/a.c") << "int main() {}\n";
  std::ofstream(directory_ / "elsewhere.c") << "\n";
  const fs::path database = directory_ / "db";
  EXPECT_EQ(find_source(database, "src/home/me/a.c"), database / "src/home/me/a.c");
  EXPECT_EQ(find_source(database, "./src/home/me/a.c"), database / "src/home/me/a.c");
  EXPECT_EQ(find_source(database, "/home/me/a.c"), database / "src/home/me/a.c");
  EXPECT_EQ(find_source(database / "meta.db", "/home/me/a.c"), database / "src/home/me/a.c");
  EXPECT_EQ(find_source(database, (directory_ / "elsewhere.c").string()), directory_ / "elsewhere.c");
  // A copy that lies less deep than the name says.
  std::ofstream(directory_ / "db/src/flat.c") << "\n";
  EXPECT_EQ(find_source(database, "src/some/where/flat.c"), database / "src/flat.c");
  EXPECT_EQ(find_source(database, "/some/where/flat.c"), database / "src/flat.c");
  EXPECT_EQ(find_source(database, "../elsewhere.c"), std::nullopt);
  EXPECT_EQ(find_source(database, "gone.c"), std::nullopt);
  EXPECT_EQ(find_source(database, ""), std::nullopt);
}

// Every value belongs to one line, so that the lines of all files add up to what is measured in known files.
TEST_F(HpctoolkitNative, LinesAddUp) {
  if (!fs::exists(data_directory())) GTEST_SKIP() << "no shared data";
  const auto dataset = open(data_directory() / "b-small");
  ASSERT_TRUE(dataset);
  const ProfilePtr profile = *dataset->profile();
  auto files = source_lines(*profile, {MetricId(0U), {}, {}});
  ASSERT_TRUE(files.ok());
  ASSERT_EQ(files->size(), 1U);
  EXPECT_NEAR(files->front().total, 1.210259, 1e-9);
  // All of it in the loop of spinsleep, at line 3, but for one sample in line 1.
  double sum = 0;
  for (const auto& [line, value] : files->front().lines) sum += value.own;
  EXPECT_NEAR(sum, 1.210259, 1e-9);
  EXPECT_GT(files->front().lines.at(3).own, 1.0);
  // Nothing else is called that is measured, so all of it is inclusive in the one file, too.
  EXPECT_NEAR(files->front().inclusive, 1.210259, 1e-9);
}

}  // namespace
}  // namespace fathom::hpctoolkit
