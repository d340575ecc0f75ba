// Rules over profiles, on profiles small enough to reckon by hand.
#include "findings/profile_report.hpp"

#include <gtest/gtest.h>

#include "findings/run_efficiency.hpp"
#include "profile/expression/derive.hpp"
#include "profile/memory_profile.hpp"
#include "profile/selection.hpp"

namespace fathom {
namespace {

const Finding* find(const Report& report, std::string_view kind) {
  for (const Finding& finding : report.findings) {
    if (finding.kind == kind) return &finding;
  }
  return nullptr;
}

void set_region(test::MemoryProfile& make, const std::string& name, const char* paradigm, const char* role) {
  for (Region& region : make.defs().regions) {
    if (region.name != name) continue;
    region.paradigm = paradigm;
    region.role = role;
  }
}

// Three threads: the first is alone for 2 s in main and 4 s in setup, and 1 s in MPI, where nobody is to blame.
TEST(ProfileReport, SerialSectionsNameTheCodeThatRunsAlone) {
  test::MemoryProfile make({"0", "1", "2"});
  const MetricId time = make.metric("time");
  make.defs().metrics[0].unit = "sec";
  for (const char* path : {"main", "main/!$omp parallel @x.c:3", "main/setup", "main/MPI_Barrier"}) make.context(path);
  set_region(make, "MPI_Barrier", "mpi", "barrier");
  make.values<double>(time, "main", {2, 0, 0});
  make.values<double>(time, "main/!$omp parallel @x.c:3", {5, 5, 5});
  make.values<double>(time, "main/setup", {4, 0, 0});
  make.values<double>(time, "main/MPI_Barrier", {1, 0, 0});
  const auto report = profile_report(make.build(), time);
  ASSERT_TRUE(report.ok()) << report.error().text();
  const Finding* serial = find(*report, "serial_section");
  ASSERT_NE(serial, nullptr);
  EXPECT_DOUBLE_EQ(serial->lost_s, 12);           // two threads, 2 s and 4 s
  EXPECT_DOUBLE_EQ(serial->severity, 12.0 / 36);  // three threads, 12 s
  EXPECT_EQ(serial->where.region, "setup");
  EXPECT_EQ(serial->level, FindingLevel::problem);
}

// States without work and what a profiler says of itself are no hot spots.
TEST(ProfileReport, HotSpotsAreCode) {
  test::MemoryProfile make({"0", "1"});
  const MetricId time = make.metric("time");
  make.defs().metrics[0].unit = "sec";
  for (const char* path : {"Idle", "PyTorch Profiler (0)", "work"}) make.context(path);
  set_region(make, "PyTorch Profiler (0)", "Trace", "");
  make.values<double>(time, "Idle", {0, 9});
  make.values<double>(time, "PyTorch Profiler (0)", {9, 0});
  make.values<double>(time, "work", {3, 3});
  const auto report = profile_report(make.build(), time);
  ASSERT_TRUE(report.ok()) << report.error().text();
  std::vector<std::string> hot;
  for (const Finding& finding : report->findings) {
    if (finding.kind == "hot_spot") hot.push_back(finding.where.region);
  }
  EXPECT_EQ(hot, (std::vector<std::string>{"work"}));
}

// Extremes and ratios are no costs: their parts are no shares.
TEST(ProfileReport, IsOfAMetricThatAddsUp) {
  test::MemoryProfile make({"0", "1"});
  const MetricId shortest = make.metric("shortest", ValueKind::min_f64);
  const MetricId visits = make.metric("visits");
  for (const char* path : {"main", "main/a"}) {
    make.context(path);
    make.values<double>(shortest, path, {1, 2});
    make.values<double>(visits, path, {3, 4});
  }
  make.defs().metrics[0].unit = "sec";
  make.defs().metrics[1].unit = "occ";
  const auto guessed = guess_cost(*make.build());
  ASSERT_TRUE(guessed.ok()) << guessed.error().text();
  EXPECT_EQ(*guessed, visits);

  test::MemoryProfile only({"0", "1"});
  only.context("main");
  only.values<double>(only.metric("time", ValueKind::max_f64), "main", {1, 2});
  EXPECT_FALSE(guess_cost(*only.build()).ok());
}

TEST(ProfileReport, IsOfADerivedMetricOnlyWhereItsPartsAreItsSum) {
  test::MemoryProfile make({"0", "1"});
  const MetricId visits = make.metric("visits");
  const MetricId cost = make.metric("cost");
  for (const char* path : {"main", "main/a"}) {
    make.context(path);
    make.values<double>(visits, path, {3, 4});
    make.values<double>(cost, path, {1, 2});
  }
  const ProfilePtr stored = make.build();
  const auto with = [&](const char* formula) { return with_derived(stored, formula).value(); };
  EXPECT_EQ(guess_cost(*with("time = cost / visits")).value(), visits);
  EXPECT_EQ(guess_cost(*with("time = 2 * cost")).value(), MetricId(2));
}

// The same costs in three units: time is told in seconds, what is no time says what it is.
TEST(ProfileReport, CostsAreSecondsOrSayWhatTheyAre) {
  for (const char* unit : {"sec", "ns", "occ"}) {
    test::MemoryProfile make({"0", "1"});
    const MetricId cost = make.metric("cost");
    make.defs().metrics[0].unit = unit;
    for (const char* path : {"main", "main/a", "main/b"}) make.context(path);
    make.values<double>(cost, "main", {0, 0});
    make.values<double>(cost, "main/a", {6e9, 0});
    make.values<double>(cost, "main/b", {1e9, 3e9});
    const auto report = profile_report(make.build(), cost);
    ASSERT_TRUE(report.ok()) << report.error().text();
    const double factor = unit == std::string_view("ns") ? 1e-9 : 1;
    EXPECT_DOUBLE_EQ(report->location_time_s.value(), 10e9 * factor) << unit;
    const Finding* hot = find(*report, "hot_spot");
    ASSERT_NE(hot, nullptr) << unit;
    EXPECT_EQ(hot->where.region, "a") << unit;
    EXPECT_DOUBLE_EQ(hot->lost_s, 6e9 * factor) << unit;
    EXPECT_DOUBLE_EQ(hot->severity, 0.6) << unit;
    if (unit == std::string_view("occ")) {
      ASSERT_TRUE(report->counted.has_value());
      EXPECT_EQ(report->counted->metric, "cost");
      EXPECT_EQ(report->counted->unit, "occ");
      EXPECT_EQ(hot->unit, "occ");
      EXPECT_NE(hot->text.find("of all cost"), std::string::npos) << hot->text;
    } else {
      EXPECT_FALSE(report->counted.has_value()) << unit;
      EXPECT_NE(hot->text.find("of all time"), std::string::npos) << hot->text;
    }
  }
}

TEST(ProfileReport, GpusAreIdleAtLeastAsLongAsTheyRunNothing) {
  test::MemoryProfile make({"0", "1", "2"});
  for (const std::size_t stream : {1, 2}) {
    make.defs().system.nodes[make.defs().system.locations[stream].index()].type = "gpu";
  }
  const MetricId time = make.metric("time");
  make.defs().metrics[0].unit = "sec";
  for (const char* path : {"main", "main/cudaDeviceSynchronize", "kernel"}) make.context(path);
  make.values<double>(time, "main", {6, 0, 0});
  make.values<double>(time, "main/cudaDeviceSynchronize", {4, 0, 0});
  make.values<double>(time, "kernel", {0, 1, 2});
  const auto report = profile_report(make.build(), time);
  ASSERT_TRUE(report.ok()) << report.error().text();
  const Finding* idle = find(*report, "gpu_idle");
  ASSERT_NE(idle, nullptr);
  EXPECT_DOUBLE_EQ(idle->lost_s, 7);  // 10 s, of which the streams run 3
  EXPECT_DOUBLE_EQ(idle->severity, 0.7);
  const Finding* share = find(*report, "gpu_share");
  ASSERT_NE(share, nullptr);
  EXPECT_DOUBLE_EQ(share->lost_s, 4);
}

RunEfficiency scale(std::uint64_t locations, double balance, double serialisation, double transfer, double useful) {
  RunEfficiency run;
  run.name = std::to_string(locations);
  run.locations = locations;
  run.numbers.load_balance = balance;
  run.numbers.serialisation = serialisation;
  run.numbers.transfer = transfer;
  run.numbers.communication = serialisation * transfer;
  run.numbers.parallel = balance * serialisation * transfer;
  run.numbers.runtime_s = 10;
  run.useful_s = useful;
  return run;
}

// Transfer is lowest in the end, but load balance is what goes wrong first.
TEST(Scaling, TheFactorThatFallsFirstIsNotTheLowestOne) {
  const std::vector<RunEfficiency> runs = {scale(4, 0.99, 0.99, 0.98, 40), scale(8, 0.90, 0.98, 0.96, 40),
                                           scale(16, 0.85, 0.97, 0.70, 41)};
  const auto falling = falls_first(runs, false);
  ASSERT_TRUE(falling.has_value());
  EXPECT_EQ(falling->name, "load_balance");
  EXPECT_EQ(falling->locations, 8U);
  EXPECT_EQ(falling_text(*falling),
            "From 4 to 16 locations load balance falls first: 99.0% at 4, 90.0% at 8, 85.0% at 16.");
  EXPECT_FALSE(looks_weak(runs));
  const Report report = scaling_report(runs);
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings[0].kind, "scaling_loss");
  EXPECT_NEAR(report.findings[0].severity, 1 - 0.85 / 0.99, 1e-12);
}

TEST(Scaling, NothingFallsWhereNothingDoes) {
  EXPECT_FALSE(falls_first({scale(4, 0.99, 0.99, 0.99, 40)}, false).has_value());
  EXPECT_FALSE(falls_first({scale(4, 0.99, 0.99, 0.99, 40), scale(4, 0.5, 0.9, 0.9, 40)}, false).has_value());
  EXPECT_FALSE(falls_first({scale(4, 0.99, 0.99, 0.99, 40), scale(8, 0.985, 0.99, 0.99, 40)}, false).has_value());
  // Twice the ranks do twice the work: weak scaling, and nothing is wrong with it.
  const std::vector<RunEfficiency> weak = {scale(4, 0.99, 0.99, 0.99, 40), scale(8, 0.99, 0.99, 0.99, 80)};
  EXPECT_TRUE(looks_weak(weak));
  EXPECT_TRUE(scaling_report(weak).findings.empty());
}

}  // namespace
}  // namespace fathom
