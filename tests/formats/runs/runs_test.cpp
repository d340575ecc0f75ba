#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <set>

#include "base/execution.hpp"
#include "experiment/collect.hpp"
#include "experiment/unit.hpp"
#include "formats/extrap/expected.hpp"
#include "formats/registry.hpp"
#include "formats/runs/run_names.hpp"
#include "profile/views.hpp"
#include "temporary_directory.hpp"

namespace fathom::runs {
namespace {

using extrap::testing::data;
using extrap::testing::have_data;
using extrap::testing::Json;

std::string shown(std::string_view name) {
  const auto point = parse_run_name(name);
  if (!point) return "refused";
  std::string out;
  for (std::size_t i = 0; i < point->names.size(); ++i) {
    out += (i > 0 ? " " : "") + point->names[i] + "=" + python_number(point->values[i]);
  }
  return out;
}

TEST(RunNames, Forms) {
  for (const char* name : {"mm.x10y1z1.r1", "mm.x10y1z1", "x10y1z1", "mm.x10.y1.z1.r12", "mm.x10,y1,z1.r1"}) {
    EXPECT_EQ(shown(name), "x=10.0 y=1.0 z=1.0") << name;
  }
  EXPECT_EQ(shown("mm.x20,5.y20,5.z1,5.r1"), "x=20.5 y=20.5 z=1.5");
  EXPECT_EQ(shown("mm.x21.5,y21,5,z1.15.r1"), "x=21.5 y=21.5 z=1.15");
  EXPECT_EQ(shown("mm.x1.1y1.1z1.1"), "x=1.1 y=1.1 z=1.1");
  EXPECT_EQ(shown("app.ranks4.r1"), "ranks=4.0");
  EXPECT_EQ(shown("app.ranks4"), "ranks=4.0");
  EXPECT_EQ(shown("app.ranks4.r2"), "ranks=4.0");
  EXPECT_EQ(shown("app.n10.ranks4"), "n=10.0 ranks=4.0");
  EXPECT_EQ(shown("app.n10.ranks4.rep2"), "n=10.0 ranks=4.0");
  EXPECT_EQ(shown("app.run4"), "run=4.0");
  EXPECT_EQ(shown("app.p4.r1.n5"), "p=4.0");  // nothing counts after a repetition
  EXPECT_EQ(shown("mm.x10y1.run3"), "x=10.0 y=1.0");
  EXPECT_EQ(shown("mm.x10y1.r1_again"), "x=10.0 y=1.0");
  EXPECT_EQ(shown("x10y1z1.r1"), "x=10.0 y=1.0 z=1.0");
  EXPECT_EQ(shown("x10.y5"), "y=5.0");  // what stands before the first dot is the prefix
  EXPECT_EQ(shown("app.x22.5.y22.5.z1.25"), "x=22.5 y=22.5 z=1.25");
  EXPECT_EQ(shown("app.p-8"), "p-=8.0");  // there are no negative numbers
  EXPECT_EQ(shown("app.8.r1"), "refused");
  EXPECT_EQ(shown("app.x1e5"), "x=1.0 e=5.0");
  EXPECT_EQ(shown("mm.x1.000,5.r1"), "refused");
  EXPECT_EQ(shown("nothing"), "refused");
  EXPECT_EQ(shown(""), "refused");
}

// Whether a directory holds runs is asked of it once, not again by every directory above it: that would take time in
// proportion to the square of the depth, and without end where names of directories look like points.
TEST(Runs, DeepDirectoriesAreLookedThroughOnce) {
  for (const char* name : {"a.p2", "d"}) {
    const TemporaryDirectory folder;
    std::filesystem::path deep = folder.path();
    for (int level = 0; level < 100; ++level) deep /= name;
    std::filesystem::create_directories(deep);
    const auto dataset = open_dataset(folder.path(), make_work());
    ASSERT_FALSE(dataset.ok());
    EXPECT_NE(dataset.error().text().find("no format recognises"), std::string::npos) << dataset.error().text();
  }
}

TEST(Runs, CubeDirectoriesOfTheReference) {
  if (!have_data()) GTEST_SKIP() << "no reference data";
  std::size_t compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator(data("expected"))) {
    const std::string file = entry.path().filename().string();
    if (!file.starts_with("cubeset")) continue;
    const Json expected = extrap::testing::load_json(entry.path());
    const auto path = data("inputs") / expected["input"].get<std::string>();
    if (!std::filesystem::exists(path)) continue;
    SCOPED_TRACE(file);
    const Work work = make_work();
    for (const char* scaling : {"weak_threaded", "strong", "weak"}) {
      if (file.find(std::string(".") + scaling + ".") != std::string::npos) {
        EXPECT_TRUE(set_reading_option(*work, "scaling", scaling).ok());
      }
    }
    if (file.find("use_inclusive") != std::string::npos) {
      EXPECT_TRUE(set_reading_option(*work, "use-inclusive-measurements", "true").ok());
    }
    auto dataset = open_dataset(path, work);
    if (expected.contains("error")) {
      ASSERT_FALSE(dataset.ok());
      // Directories are listed in another order there, so the two lists may be exchanged.
      EXPECT_NE(dataset.error().what().find("Parameters must be the same and in the same order"), std::string::npos)
          << dataset.error().text();
      ++compared;
      continue;
    }
    ASSERT_TRUE(dataset.ok()) << dataset.error().text();
    EXPECT_EQ((*dataset)->format().name, "runs");
    auto experiment = (*dataset)->experiment();
    ASSERT_TRUE(experiment.ok()) << experiment.error().text();
    extrap::testing::check_experiment(**experiment, expected["experiment"]);
    ++compared;
    if (HasFailure()) break;
  }
  EXPECT_GE(compared, 15u);
}

TEST(RunNames, AFirstPartThatVariesLikeAParameterIsOne) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(first_part_of(Names{"x2.y8.r1", "x4.y8.r1"}), FirstPart::parameter);
  EXPECT_EQ(first_part_of(Names{"x2.y8.r1", "x2.y16.r1"}), FirstPart::prefix);  // and a constant is none anyway
  EXPECT_EQ(first_part_of(Names{"app.y8.r1", "app.y16.r1"}), FirstPart::prefix);
  EXPECT_EQ(first_part_of(Names{"app1.y8", "lib2.y8"}), FirstPart::prefix);
  EXPECT_EQ(first_part_of(Names{"x2y8", "x4y8"}), FirstPart::prefix);  // there is no dot
  EXPECT_EQ(first_part_of(Names{"x2.r1", "x4.r1"}), FirstPart::prefix);
  const auto point = parse_run_name("x2.y8.r1", FirstPart::parameter);
  ASSERT_TRUE(point.ok());
  EXPECT_EQ(point->names, (Names{"x", "y"}));
  EXPECT_EQ(point->values, (std::vector<double>{2, 8}));
}

// Whatever is collected from a run adds up to what the run measured.
TEST(Runs, CollectedTotalsAreTheProfilesTotals) {
  if (!std::filesystem::exists(FATHOM_SHARED_DATA "/hpctoolkit")) GTEST_SKIP() << "no reference data";
  std::size_t compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator(FATHOM_SHARED_DATA "/hpctoolkit")) {
    if (!entry.is_directory()) continue;
    SCOPED_TRACE(entry.path().string());
    std::vector<std::filesystem::path> candidates{entry.path()};
    for (const auto& inner : std::filesystem::directory_iterator(entry.path())) {
      if (inner.is_directory()) candidates.push_back(inner.path());
    }
    for (const auto& path : candidates) {
      auto dataset = open_dataset(path, make_work());
      if (!dataset.ok() || !(*dataset)->format().name.starts_with("hpctoolkit")) continue;
      auto profile = (*dataset)->profile();
      if (!profile.ok()) continue;
      LeftOut left_out;
      const auto values = values_of_run(**profile, {}, left_out);
      ASSERT_TRUE(values.ok()) << values.error().text();
      std::map<std::string, double> collected;
      for (const RunValues& v : *values) {
        for (const double x : v.values) collected[v.metric] += x;
      }
      for (const auto& [metric, sum] : collected) {
        const MetricId id = (*profile)->defs().find_metric(metric);
        if ((*profile)->defs().metric(id).derived()) continue;  // ratios do not add up
        const auto total = metric_total(**profile, id, {});
        ASSERT_TRUE(total.ok());
        EXPECT_NEAR(sum, total->scalar(), 1e-9 * std::abs(total->scalar())) << metric;
        ++compared;
      }
      for (const std::string& metric : left_out.metrics) {
        const MetricId id = (*profile)->defs().find_metric(metric);
        if ((*profile)->defs().metric(id).derived()) continue;
        const auto total = metric_total(**profile, id, {});
        if (total.ok()) {
          EXPECT_EQ(total->scalar(), 0) << metric << " was left out";
        }
      }
      // Nothing goes without a word.
      std::set<std::string> told(left_out.metrics.begin(), left_out.metrics.end());
      told.insert(left_out.hidden.begin(), left_out.hidden.end());
      for (const auto& [metric, why] : left_out.others) told.insert(metric);
      for (const auto& [metric, sum] : collected) told.insert(metric);
      const Definitions& defs = (*profile)->defs();
      for (std::size_t i = 0; i < defs.metrics.size(); ++i) {
        if (defs.metrics[i].parent.valid()) continue;  // told with what it is part of
        const auto total = metric_total(**profile, MetricId(i), {});
        if (total.ok() && total->scalar() != 0) {
          EXPECT_TRUE(told.contains(defs.metrics[i].name)) << defs.metrics[i].name;
        }
      }
      break;
    }
  }
  EXPECT_GE(compared, 20U);
}

// What is told about runs of one database of HPCToolkit, by id.
std::map<std::string, std::string> told_of_runs_of(const std::string& database) {
  const TemporaryDirectory folder;
  for (const char* name : {"p2", "p4", "p8"}) {
    std::filesystem::create_directory_symlink(std::filesystem::absolute(FATHOM_SHARED_DATA "/hpctoolkit") / database,
                                              folder / name);
  }
  const Work work = make_work();
  const auto dataset = open_dataset(folder.path(), work);
  EXPECT_TRUE(dataset.ok()) << dataset.error().text();
  std::map<std::string, std::string> told;
  for (const Diagnostic& one : work->diagnostics.all()) told[one.id] = one.text;
  return told;
}

TEST(Runs, MetricsThatAreLeftOutAreToldWithTheirReason) {
  if (!std::filesystem::exists(FATHOM_SHARED_DATA "/hpctoolkit")) GTEST_SKIP() << "no reference data";
  // Its sums hold values, of all threads together.
  auto told = told_of_runs_of("c-cpi");
  EXPECT_FALSE(told.contains("runs.empty_metrics")) << told["runs.empty_metrics"];
  EXPECT_EQ(told["runs.metrics_left_out"],
            "metrics are left out: CPUTIME (usec):Sum (E), CPUTIME (usec):Sum (I) (no values of single threads are "
            "stored)");
  told = told_of_runs_of("c-empty");
  EXPECT_EQ(told["runs.empty_metrics"],
            "The following metrics were skipped because they contained no data: REALTIME (sec).[0,0]");
  EXPECT_FALSE(told.contains("runs.metrics_left_out")) << told["runs.metrics_left_out"];
  told = told_of_runs_of("b-loops-cuda-pc");
  EXPECT_NE(told["runs.hidden_metrics"].find("GSAMP:TOT"), std::string::npos) << told["runs.hidden_metrics"];
  EXPECT_NE(told["runs.hidden_metrics"].find("--read-metric takes them"), std::string::npos);
}

std::map<std::string, std::vector<double>> means_of(const Experiment& experiment, const std::string& metric) {
  std::map<std::string, std::vector<double>> out;
  for (const Series& series : experiment.series()) {
    if (experiment.metrics()[series.metric].name != metric) continue;
    for (std::size_t k = 0; k < experiment.points_of(series).size(); ++k) {
      out[experiment.callpaths()[series.callpath].name].push_back(experiment.means()[series.first + k]);
    }
  }
  return out;
}

class RunsOfTraces : public ::testing::Test {
 protected:
  void add(const std::string& name) {
    std::filesystem::copy(FATHOM_SOURCE_DIR "/examples/ring", directory_ / name,
                          std::filesystem::copy_options::recursive);
  }
  Result<ExperimentPtr> open(const Work& work = make_work()) {
    FATHOM_TRY(dataset_, open_dataset(directory_.path(), work));
    return dataset_->experiment();
  }
  TemporaryDirectory directory_;
  DatasetPtr dataset_;
};

TEST_F(RunsOfTraces, AreReducedAndCollected) {
  for (const char* name : {"ring.n1.r1", "ring.n1.r2", "ring.n2.r1", "ring.n4.r1"}) add(name);
  auto experiment = open();
  ASSERT_TRUE(experiment.ok()) << experiment.error().text();
  EXPECT_EQ(dataset_->format().name, "runs");
  EXPECT_EQ((*experiment)->parameters(), std::vector<std::string>{"n"});
  // Every rank enters each call as often as the trace says, at every point.
  auto trace = open_dataset(FATHOM_SOURCE_DIR "/examples/ring", make_work());
  ASSERT_TRUE(trace.ok());
  const auto statistics = (*trace)->statistics({});
  ASSERT_TRUE(statistics.ok());
  const auto visits = means_of(**experiment, "visits");
  std::size_t calls = 0;
  for (const CallStatistics& call : statistics->calls) {
    if (call.count == 0 || !call.name.starts_with("MPI_")) continue;
    const auto found = visits.find("compute->" + call.name);
    ASSERT_NE(found, visits.end()) << call.name;
    EXPECT_EQ(found->second, std::vector<double>(3, static_cast<double>(call.count) / 4)) << call.name;
    ++calls;
  }
  EXPECT_GE(calls, 3U);
  EXPECT_EQ(unit_of((*experiment)->metrics()[0]), "sec");
  EXPECT_FALSE(description_of((*experiment)->metrics()[0]).empty());
}

TEST_F(RunsOfTraces, AListSaysThePointsWhereNamesDoNot) {
  for (const char* name : {"monday", "tuesday", "wednesday"}) add(name);
  std::ofstream(directory_ / "runs.csv") << "path,p,size\nmonday,4,10\ntuesday,4,20\n\"wednesday\",4,20\n";
  auto experiment = open();
  ASSERT_TRUE(experiment.ok()) << experiment.error().text();
  EXPECT_EQ((*experiment)->parameters(), std::vector<std::string>{"size"});
  ASSERT_EQ((*experiment)->point_count(), 2U);
  std::ofstream(directory_ / "runs.csv") << "path,size\nmonday,ten\n";
  experiment = open();
  ASSERT_FALSE(experiment.ok());
  EXPECT_NE(experiment.error().text().find("runs.csv:2"), std::string::npos) << experiment.error().text();
}

TEST_F(RunsOfTraces, AListWithANulByteInANameIsNotTheDirectoryItself) {
  add("monday");
  std::ofstream(directory_ / "runs.csv") << "path,size\n" << std::string(3, '\0') << ",1\nmonday,2\n";
  auto dataset = open_dataset(directory_.path(), make_work());
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  const auto experiment = (*dataset)->experiment();
  ASSERT_TRUE(experiment.ok()) << experiment.error().text();
  EXPECT_EQ((*experiment)->point_count(), 1U);
  const auto& told = (*dataset)->work()->diagnostics.all();
  EXPECT_TRUE(std::any_of(told.begin(), told.end(), [](const Diagnostic& one) {
    return one.id == "runs.unreadable" && one.text.find("NUL byte") != std::string::npos;
  }));
}

// Found by fuzzing: each was opened as a list of runs again, and again.
TEST_F(RunsOfTraces, AListThatNamesItselfOrAnotherListIsNoRun) {
  add("monday");
  const auto other = directory_ / "other";
  std::filesystem::create_directory(other);
  std::ofstream(other / "runs.csv") << "path,size\n..,1\n../monday,2\n";
  for (const char* self : {"", ".", "monday/..", "other"}) {
    std::ofstream(directory_ / "runs.csv") << "path,size\n" << self << ",1\nmonday,2\n";
    const Work work = make_work();
    auto experiment = open(work);
    ASSERT_TRUE(experiment.ok()) << self << ": " << experiment.error().text();
    EXPECT_EQ((*experiment)->point_count(), 1U) << self;
    const auto& told = work->diagnostics.all();
    EXPECT_TRUE(std::any_of(told.begin(), told.end(), [](const Diagnostic& one) {
      return one.id == "runs.unreadable" && one.text.find("directory of runs itself") != std::string::npos;
    })) << self;
  }
}

TEST_F(RunsOfTraces, ARunThatCannotBeReadIsNamedAndLeftOut) {
  for (const char* name : {"ring.n1.r1", "ring.n1.r2", "ring.n2.r1", "ring.n4.r1"}) add(name);
  for (const auto& entry : std::filesystem::directory_iterator(directory_ / "ring.n1.r2")) {
    std::ofstream(entry.path(), std::ios::trunc) << "damaged";
  }
  const Work work = make_work();
  auto experiment = open(work);
  ASSERT_TRUE(experiment.ok()) << experiment.error().text();
  EXPECT_EQ((*experiment)->point_count(), 3U);
  std::string noted;
  for (const Diagnostic& diagnostic : work->diagnostics.all()) {
    if (diagnostic.id == "runs.unreadable") noted += diagnostic.place.file + " ";
  }
  EXPECT_NE(noted.find("ring.n1.r2"), std::string::npos) << noted;
  EXPECT_FALSE(open(make_work(true)).ok());
}

// Two libraries with a function of the same name: the run took 15, not the mean of both.
TEST(Runs, FunctionsOfOneNameAreOneCallPath) {
  const TemporaryDirectory folder;
  for (const char* name : {"app.n1.r1", "app.n2.r1"}) {
    std::filesystem::create_directories(folder / name);
    std::ofstream(folder / name / "a.callgrind")
        << "events: Ir\nob=a.so\nfl=x.c\nfn=f\n1 10\nob=b.so\nfl=x.c\nfn=f\n1 5\n";
  }
  const Work work = make_work();
  const auto dataset = open_dataset(folder.path(), work);
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  const auto experiment = (*dataset)->experiment();
  ASSERT_TRUE(experiment.ok()) << experiment.error().text();
  EXPECT_EQ(means_of(**experiment, "Ir")["f"], (std::vector<double>{15, 15}));
  for (const Diagnostic& one : work->diagnostics.all()) EXPECT_NE(one.id, "runs.equal_callpaths");
}

// A pipe and a link to nothing have the names of runs and nothing to read.
TEST(Runs, WhatIsNoFileIsNamedAndLeftOut) {
  const TemporaryDirectory folder;
  for (const char* name : {"app.n1.r1.cubex", "app.n2.r1.cubex", "app.n4.r1.cubex"}) {
    std::filesystem::copy(FATHOM_SOURCE_DIR "/examples/stencil.cubex", folder / name);
  }
  ASSERT_EQ(mkfifo((folder / "app.n8.r1.cubex").c_str(), 0600), 0);
  std::filesystem::create_symlink("gone", folder / "app.n16.r1.cubex");
  const Work work = make_work();
  const auto dataset = open_dataset(folder.path(), work);
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  const auto experiment = (*dataset)->experiment();
  ASSERT_TRUE(experiment.ok()) << experiment.error().text();
  EXPECT_EQ((*experiment)->point_count(), 3U);
  std::set<std::string> noted;
  for (const Diagnostic& one : work->diagnostics.all()) {
    if (one.id == "runs.unreadable") noted.insert(std::filesystem::path(one.place.file).filename().string());
  }
  EXPECT_EQ(noted, (std::set<std::string>{"app.n8.r1.cubex", "app.n16.r1.cubex"}));
}

// Two programs, or one built in two ways, at one point are no repetitions of each other.
TEST(Runs, NamesThatDifferInMoreThanParametersAreTold) {
  const auto told = [](const std::vector<std::string>& names) {
    const TemporaryDirectory folder;
    for (const std::string& name : names) {
      std::filesystem::create_directory(folder / name);
      std::ofstream(folder / name / "x.folded") << "main 1\n";
    }
    const Work work = make_work();
    const auto dataset = open_dataset(folder.path(), work);
    EXPECT_TRUE(dataset.ok()) << dataset.error().text();
    const auto& all = work->diagnostics.all();
    return std::any_of(all.begin(), all.end(), [](const Diagnostic& one) { return one.id == "runs.other_names"; });
  };
  EXPECT_TRUE(told({"amg.p8.r1", "amg.p16.r1", "lulesh.p8.r1", "lulesh.p16.r1"}));
  EXPECT_TRUE(told({"app.p8.r1.n10", "app.p8.r1.n20", "app.p16.r1.n10"}));
  EXPECT_TRUE(told({"app.p8.gcc", "app.p8.icc", "app.p16.gcc"}));
  EXPECT_TRUE(told({"app.p512K", "app.p1M", "app.p2M"}));
  EXPECT_FALSE(told({"app.p8.r1", "app.p16.r12", "app.p16.run3", "app.p8.rep-4"}));
  EXPECT_FALSE(told({"2026-01-02_app.p8.r1", "2026-10-12_app.p16.r1"}));
  EXPECT_FALSE(told({"p8n10.r1", "app.p8n20.r1", "p16n10"}));
  EXPECT_FALSE(told({"x10.y5", "x20.y5", "x20.y6.r2"}));
}

// A directory that is named like the runs was meant to be one.
TEST(Runs, ARunWithoutFilesIsNamedAndLeftOut) {
  const TemporaryDirectory folder;
  for (const char* name : {"app.n1.r1", "app.n2.r1", "app.n4.r1/inner", "app.n4.r2/inner"}) {
    std::filesystem::create_directories(folder / name);
    std::filesystem::copy(FATHOM_SOURCE_DIR "/examples/stencil.cubex", folder / name / "profile.cubex");
  }
  // These are no runs: by their names, or as part of one.
  for (const char* name : {"plots", "old2", "app.n4.r1/logs", "app.n4.r2/logs/n7"}) {
    std::filesystem::create_directories(folder / name);
  }
  const auto unreadable = [&](bool strict) {
    const Work work = make_work(strict);
    const auto dataset = open_dataset(folder.path(), work);
    EXPECT_EQ(dataset.ok(), !strict) << (dataset.ok() ? "" : dataset.error().text());
    std::set<std::string> noted;
    for (const Diagnostic& one : work->diagnostics.all()) {
      if (one.id != "runs.unreadable") continue;
      EXPECT_EQ(one.severity, Severity::data_loss);
      noted.insert(std::filesystem::path(one.place.file).filename().string());
    }
    return noted;
  };
  EXPECT_EQ(unreadable(false), std::set<std::string>());
  std::filesystem::create_directories(folder / "app.n8.r1");
  std::filesystem::create_directories(folder / "app.n8.r2/inner");
  std::ofstream(folder / "app.n8.r2/output.log") << "killed";
  EXPECT_EQ(unreadable(false), (std::set<std::string>{"app.n8.r1", "app.n8.r2"}));
  unreadable(true);
}

// Whatever is read at the same time, the limit is one for all; a run that finds too little beside others is read alone.
TEST_F(RunsOfTraces, ShareOneLimitOfMemory) {
  for (int n = 1; n <= 6; ++n) add("ring.n" + std::to_string(n) + ".r1");
  const auto all_fit = [&](std::uint64_t limit, unsigned threads) {
    const Execution execution(threads);
    const ExecutionScope scope(execution);
    const Work work = make_work(false, limit);
    const auto experiment = open(work);
    if (!experiment.ok() || (*experiment)->point_count() != 6) return false;
    const auto& noted = work->diagnostics.all();
    return std::none_of(noted.begin(), noted.end(), [](const Diagnostic& one) { return one.id == "runs.unreadable"; });
  };
  std::uint64_t too_little = 0;
  std::uint64_t enough = std::uint64_t{1} << 30;
  ASSERT_TRUE(all_fit(enough, 1));
  while (enough - too_little > 1000) {
    const std::uint64_t middle = (too_little + enough) / 2;
    (all_fit(middle, 1) ? enough : too_little) = middle;
  }
  EXPECT_GT(too_little, 0U);
  EXPECT_TRUE(all_fit(enough, 8));
  EXPECT_FALSE(all_fit(too_little, 8));
}

}  // namespace
}  // namespace fathom::runs
