// Computation by call path, and the one that makes a rank late.
#include "trace/analysis/compute_paths.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/execution.hpp"
#include "findings/trace_report.hpp"
#include "trace/analysis/simulated_run.hpp"
#include "trace/made_ranks.hpp"

namespace fathom {
namespace {

using test::kSecond;
using test::MadeRanks;

// Four ranks, ten steps of 10 s in main->solve; rank 2 needs 5 s more of each, in main->solve->retry.
MadeRanks made_run() {
  MadeRanks trace(4);
  const auto main = trace.region("main");
  const auto solve = trace.region("solve");
  const auto retry = trace.region("retry");
  const auto barrier = trace.region("MPI_Barrier", "mpi");
  for (std::size_t r = 0; r < 4; ++r) {
    const auto at = [&](EventKind kind, std::int64_t s, std::uint32_t region) {
      trace.add(kind, s * kSecond, region, r);
    };
    at(EventKind::enter, 0, main);
    trace.call(r, barrier, 0, 1, true);
    for (std::int64_t t = 1; t < 160; t += 16) {
      at(EventKind::enter, t, solve);
      if (r == 2) {
        at(EventKind::enter, t + 10, retry);
        at(EventKind::leave, t + 15, retry);
      }
      const std::int64_t done = r == 2 ? t + 15 : t + 10;
      at(EventKind::leave, done, solve);
      trace.call(r, barrier, done, t + 16, true);
    }
    at(EventKind::leave, 161, main);
  }
  return trace;
}

TEST(ComputePaths, TheOneThatMakesARankLateIsNamed) {
  const MadeRanks trace = made_run();
  const auto analysed = analysis::analyse(trace, make_work());
  ASSERT_TRUE(analysed.ok()) << analysed.error().text();
  const analysis::RunCalls& run = (*analysed)->run;
  std::int64_t all = 0;
  for (const analysis::PathTime& time : run.locations[2].path_times) all += time.ns;
  EXPECT_EQ(all, 150 * kSecond);  // all computation of rank 2 is somewhere
  const Report report = trace_report(**analysed);
  ASSERT_FALSE(report.findings.empty());
  const Finding& finding = report.findings[0];
  EXPECT_EQ(finding.kind, "load_imbalance");
  EXPECT_EQ(finding.where.callpath, "main->solve->retry");
  EXPECT_NE(finding.text.find(", most of that in retry,"), std::string::npos) << finding.text;
  ASSERT_EQ(finding.where.callpaths.size(), 1U);  // nothing else is more than what the others do
  EXPECT_NEAR(finding.where.callpaths[0].s, 150, 1e-9);
  // Ten times the three others wait for 5 s, and nothing is passed on.
  ASSERT_EQ(report.delay_costs->size(), 1U);
  const DelayCost& cost = report.delay_costs->front();
  EXPECT_EQ(cost.rank, 2);
  ASSERT_EQ(cost.callpaths.size(), 1U);
  EXPECT_EQ(cost.callpaths[0].name, "main->solve->retry");
  EXPECT_NEAR(cost.callpaths[0].short_s, 150, 1e-9);
  EXPECT_EQ(cost.callpaths[0].long_s, 0);
}

// What is left takes what is open inside of it along; what is not open changes nothing.
TEST(ComputePaths, RegionsThatAreNotOpenAreNotLeft) {
  std::mt19937 random(3);
  analysis::PathTable table;
  analysis::PathStack stack;
  std::vector<std::uint32_t> open;  // regions
  for (int i = 0; i < 5000; ++i) {
    const auto region = static_cast<std::uint32_t>(random() % 7);
    if (random() % 2 == 0) {
      stack.enter(table, table.child(stack.top(), region));
      open.push_back(region);
    } else {
      stack.leave(table, region);
      const auto found = std::find(open.rbegin(), open.rend(), region);
      if (found != open.rend()) open.resize(static_cast<std::size_t>(open.rend() - found) - 1);
    }
    std::uint32_t parent = 0;
    for (const std::uint32_t name : open) parent = table.find(parent, name);
    ASSERT_EQ(stack.top(), parent) << i;
  }
}

// Rank 0 sends late: 3 s more in prepare, 1 s more in log, and 2 s less in solve than rank 1, which waits for it.
TEST(ComputePaths, WhatIsMoreIsSharedOutPathByPath) {
  using namespace test;
  std::vector<std::vector<Op>> program(2);
  for (auto& of_rank : program) of_rank.push_back(collective("MPI_Barrier"));
  program[0].push_back(compute(4 * kSecond, "prepare"));
  program[0].push_back(compute(1 * kSecond, "log"));
  program[0].push_back(compute(1 * kSecond, "solve"));
  program[0].push_back(send(1));
  program[1].push_back(compute(1 * kSecond, "prepare"));
  program[1].push_back(compute(3 * kSecond, "solve"));
  program[1].push_back(recv(0));
  const SimulatedRun trace(program);
  const auto analysed = analysis::analyse(trace, make_work());
  ASSERT_TRUE(analysed.ok()) << analysed.error().text();
  const analysis::DelayCosts& costs = (*analysed)->delays.locations[0];
  const double waited = 2.0 * kSecond;
  EXPECT_NEAR(costs.short_ns[0], waited, 1);
  ASSERT_EQ(costs.paths.size(), 2U);
  EXPECT_NEAR(costs.paths[0].short_ns, waited * 3 / 4, 1);
  EXPECT_NEAR(costs.paths[1].short_ns, waited * 1 / 4, 1);
  const Report report = trace_report(**analysed);
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ(report.findings[0].where.callpath, "prepare");
  EXPECT_NE(report.findings[0].text.find("prepare"), std::string::npos) << report.findings[0].text;
}

// Nothing is known of the time before a rank's first call but where the rank came from.
TEST(ComputePaths, ADelayBeforeTheFirstCallIsInTheRegionThatIsOpenThere) {
  test::MadeRanks trace(2);
  const auto barrier = trace.region("MPI_Barrier", "mpi");
  const auto region = trace.region("setup", "user");
  trace.call(0, barrier, 0, 5, true);
  trace.add(EventKind::enter, 1 * test::kSecond, region, 1);
  trace.call(1, barrier, 4, 5, true);
  trace.add(EventKind::leave, 6 * test::kSecond, region, 1);
  const auto analysed = analysis::analyse(trace, make_work());
  ASSERT_TRUE(analysed.ok()) << analysed.error().text();
  const auto& paths = (*analysed)->delays.locations[1].paths;
  ASSERT_EQ(paths.size(), 1U);
  EXPECT_EQ((*analysed)->run.path_name(paths[0].path), "setup");
  EXPECT_NEAR(paths[0].short_ns, 4.0 * test::kSecond, 1);
}

// Steps with computation in regions, outside of them and in none, and everything that can make others wait.
std::vector<std::vector<test::Op>> random_program(unsigned seed, std::size_t ranks) {
  using namespace test;
  std::mt19937 random(seed);
  std::uniform_int_distribution<std::int64_t> work(0, 200'000);
  std::uniform_int_distribution<std::size_t> who(0, ranks - 1);
  static const std::vector<std::string> kRegions = {"", "assemble", "solve", "output"};
  std::vector<std::vector<Op>> program(ranks);
  for (auto& of_rank : program) of_rank.push_back(collective("MPI_Barrier"));
  for (int step = 0; step < 60; ++step) {
    for (auto& of_rank : program) {
      for (std::size_t parts = random() % 4; parts > 0; --parts) {
        of_rank.push_back(compute(work(random), kRegions[random() % kRegions.size()]));
      }
    }
    const auto from = who(random);
    const auto to = (from + 1 + who(random) % (ranks - 1)) % ranks;
    if (step % 7 == 6) {
      for (auto& of_rank : program) of_rank.push_back(collective(step % 2 == 0 ? "MPI_Barrier" : "MPI_Scan"));
    } else {
      program[from].push_back(send(static_cast<std::int32_t>(to), random() % 2 == 0 ? 64 : 1'000'000));
      program[to].push_back(recv(static_cast<std::int32_t>(from)));
    }
  }
  for (auto& of_rank : program) of_rank.push_back(collective("MPI_Finalize"));
  return program;
}

TEST(ComputePaths, SumToTheDelayCostsOfTheRank) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    auto program = random_program(seed, 3 + seed % 6);
    const test::SimulatedRun trace(program);
    std::unique_ptr<analysis::Analysis> one, many;
    Execution(1).run([&] { one = std::move(analysis::analyse(trace, make_work())).value(); });
    Execution(4).run([&] { many = std::move(analysis::analyse(trace, make_work())).value(); });
    for (auto& of_rank : program) {
      for (test::Op& op : of_rank) op.name = op.kind == test::Op::Kind::compute ? "" : op.name;
    }
    const test::SimulatedRun bare(program);
    const auto without = std::move(analysis::analyse(bare, make_work())).value();
    double costs = 0;
    double waits = 0;
    for (std::size_t l = 0; l < one->delays.locations.size(); ++l) {
      const analysis::DelayCosts& here = one->delays.locations[l];
      // Regions tell where a delay was, not whose.
      EXPECT_EQ(here.short_ns, without->delays.locations[l].short_ns);
      EXPECT_EQ(here.long_ns, without->delays.locations[l].long_ns);
      EXPECT_TRUE(without->delays.locations[l].paths.empty());
      double short_ns = 0;
      double long_ns = 0;
      const auto& same = many->delays.locations[l].paths;
      ASSERT_EQ(here.paths.size(), same.size());
      for (std::size_t i = 0; i < same.size(); ++i) {
        EXPECT_EQ(here.paths[i].path, same[i].path);
        EXPECT_EQ(here.paths[i].short_ns, same[i].short_ns);
        EXPECT_EQ(here.paths[i].long_ns, same[i].long_ns);
        EXPECT_GE(same[i].short_ns, 0);
        short_ns += same[i].short_ns;
        long_ns += same[i].long_ns;
      }
      EXPECT_NEAR(short_ns, here.short_ns[0], 1e-9 * here.short_ns[0] + 1e-6) << "seed " << seed;
      EXPECT_NEAR(long_ns, here.long_ns[0], 1e-9 * here.long_ns[0] + 1e-6) << "seed " << seed;
      for (std::size_t a = 0; a < analysis::kActivities; ++a) costs += here.short_ns[a] + here.long_ns[a];
      waits += static_cast<double>(one->waits.locations[l].total());
    }
    EXPECT_NEAR(costs, waits, 1e-9 * waits) << "seed " << seed;
  }
}

// Long stretches are added up from sums that are kept now and then: as item by item.
TEST(ComputePaths, OfLongStretchesAreThoseOfTheirParts) {
  const test::SimulatedRun trace(random_program(3, 3));
  const auto analysed = std::move(analysis::analyse(trace, make_work())).value();
  const analysis::RunCalls& run = analysed->run;
  for (std::uint32_t l = 0; l < run.locations.size(); ++l) {
    const auto calls = static_cast<std::uint32_t>(run.locations[l].calls.size());
    ASSERT_GT(run.locations[l].path_times.size(), 8 * run.paths.size());  // several such sums
    for (std::uint32_t begin = 0; begin < calls; ++begin) {
      std::vector<std::int64_t> wanted(run.paths.size());
      for (std::uint32_t end = begin; end < calls; ++end) {
        for (const analysis::PathTime& time : run.locations[l].path_times) {
          if (time.call == end) wanted[time.path] += time.ns;
        }
        analysis::PathAmounts found;
        analysed->intervals->add_paths(l, begin, end, found);
        for (std::uint32_t path = 0; path < run.paths.size(); ++path) ASSERT_EQ(found[path], wanted[path]);
      }
    }
  }
}

TEST(ComputePaths, TreesOfProcessesBecomeOne) {
  analysis::PathTable a;
  const auto main = a.child(0, 7);
  EXPECT_EQ(a.child(main, 8), 2U);
  EXPECT_EQ(a.child(0, 7), main);
  analysis::PathTable b;
  const auto other = b.child(0, 9);
  const auto below = b.child(other, 8);
  const auto same = b.child(0, 7);
  const auto numbers = a.merge(b);
  EXPECT_EQ(numbers[same], main);
  EXPECT_EQ(a.region(numbers[below]), 8U);
  EXPECT_EQ(a.parent(numbers[below]), numbers[other]);
  EXPECT_EQ(a.size(), 5U);
}

TEST(ComputePaths, ARegionThatIsNeverLeftEndsWithWhatIsAroundIt) {
  analysis::PathTable table;
  analysis::ComputePaths paths(table);
  ArrayPool pool(std::uint64_t{1} << 20);
  LargeArray<analysis::PathTime> times(pool);
  paths.resume(0);
  paths.enter(1, 10);
  paths.enter(2, 20);
  paths.leave(1, 50);
  paths.leave(5, 60);  // was never entered
  paths.pause(70);
  paths.end_gap(7, times);
  // What is outside is the rest.
  ASSERT_EQ(times.size(), 2U);
  EXPECT_EQ(times[0].ns, 10);
  EXPECT_EQ(times[1].ns, 30);
  EXPECT_EQ(times[1].call, 7U);
  EXPECT_EQ(times[1].path, 2U);
}

}  // namespace
}  // namespace fathom
