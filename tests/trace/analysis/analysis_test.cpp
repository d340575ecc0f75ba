#include "trace/analysis/analysis.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "findings/trace_report.hpp"
#include "trace/analysis/simulated_run.hpp"
#include "trace/analysis/what_if.hpp"

namespace fathom {
namespace {

using namespace test;
using analysis::Analysis;
using analysis::WaitKind;

std::unique_ptr<Analysis> analysed(const Trace& trace, const Work& work = make_work()) {
  auto result = analysis::analyse(trace, work);
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().text());
  return std::move(result).value();
}

double waited(const Analysis& analysis, WaitKind kind) {
  double sum = 0;
  for (const auto& waits : analysis.waits.locations)
    sum += static_cast<double>(waits.ns[static_cast<std::size_t>(kind)]);
  return sum;
}

// Steps of computation, a ring of messages and a reduction; `slow` computes longer by a factor.
std::vector<std::vector<Op>> ring(std::size_t ranks, std::size_t steps, std::size_t slow, double factor,
                                  unsigned seed = 1) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> noise(-2000, 2000);
  std::vector<std::vector<Op>> program(ranks);
  for (std::size_t r = 0; r < ranks; ++r) program[r].push_back(collective("MPI_Barrier"));
  for (std::size_t s = 0; s < steps; ++s) {
    for (std::size_t r = 0; r < ranks; ++r) {
      const double work = (1'000'000 + noise(random)) * (r == slow ? factor : 1.0);
      program[r].push_back(compute(static_cast<std::int64_t>(work)));
      program[r].push_back(send(static_cast<std::int32_t>((r + 1) % ranks), 4096));
      program[r].push_back(recv(static_cast<std::int32_t>((r + ranks - 1) % ranks)));
      if (s % 5 == 4) program[r].push_back(collective("MPI_Allreduce"));
    }
  }
  for (auto& of_rank : program) of_rank.push_back(collective("MPI_Finalize"));
  return program;
}

std::vector<std::vector<Op>> random_program(std::mt19937& random, std::size_t ranks) {
  std::vector<std::vector<Op>> program(ranks);
  std::uniform_int_distribution<int> what(0, 7);
  std::uniform_int_distribution<std::int64_t> work(0, 200'000);
  std::uniform_int_distribution<std::size_t> who(0, ranks - 1);
  // The run begins with its first call: nothing is known of what is before it.
  for (auto& of_rank : program) of_rank.push_back(collective("MPI_Barrier"));
  for (int step = 0; step < 60; ++step) {
    for (std::size_t r = 0; r < ranks; ++r) program[r].push_back(compute(work(random)));
    const auto from = who(random);
    const auto to = (from + 1 + who(random) % (ranks - 1)) % ranks;
    const auto root = static_cast<std::int32_t>(who(random));
    const auto everybody = [&](const Op& op) {
      for (auto& of_rank : program) of_rank.push_back(op);
    };
    switch (what(random)) {
      case 0:
        everybody(collective("MPI_Barrier"));
        break;
      case 1:
        everybody(collective("MPI_Bcast", root));
        break;
      case 2:
        everybody(collective("MPI_Reduce", root));
        break;
      case 3:
        everybody(collective("MPI_Scan"));
        break;
      case 4:
        program[from].push_back(io("MPI_File_write_at", work(random)));
        break;
      default:
        program[from].push_back(send(static_cast<std::int32_t>(to), random() % 2 == 0 ? 64 : 1'000'000));
        program[to].push_back(recv(static_cast<std::int32_t>(from)));
    }
  }
  for (auto& of_rank : program) of_rank.push_back(collective("MPI_Finalize"));
  return program;
}

TEST(Analysis, HoldsItsPropertiesOnRandomPrograms) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    const std::size_t ranks = 3 + seed % 6;
    const SimulatedRun run(random_program(random, ranks));
    const auto analysis = analysed(run);
    double waits = 0;
    for (const auto& of_location : analysis->waits.locations) waits += static_cast<double>(of_location.total());
    double costs = 0;
    for (const auto& of_location : analysis->delays.locations) {
      costs = std::accumulate(of_location.short_ns.begin(), of_location.short_ns.end(), costs);
      costs = std::accumulate(of_location.long_ns.begin(), of_location.long_ns.end(), costs);
    }
    EXPECT_GT(waits, 0);
    EXPECT_NEAR(costs, waits, 1e-9 * waits) << "seed " << seed;
    EXPECT_EQ(analysis->run.runtime(), run.runtime());
    EXPECT_EQ(analysis->path.length, run.runtime()) << "seed " << seed;
    const auto& e = analysis->efficiencies;
    EXPECT_NEAR(e.load_balance * e.communication, e.parallel, 1e-12);
    ASSERT_TRUE(e.serialisation && e.transfer) << "seed " << seed;
    EXPECT_NEAR(*e.serialisation * *e.transfer, e.communication, 1e-12);
    EXPECT_LE(*e.transfer, 1 + 1e-9);
    double lost = 0;
    for (const Finding& finding : trace_report(*analysis).findings) {
      if (finding.kind == "communication" || finding.kind == "no_overlap" || finding.kind == "tiny_messages") continue;
      lost += finding.lost_s;
    }
    // Every second of waiting is in a finding, but for those too small to be shown.
    EXPECT_NEAR(lost, waits * 1e-9, 0.01 * analysis->location_time() * 1e-9) << "seed " << seed;
  }
}

TEST(Analysis, DoesNotDependOnTheOrderOfRanks) {
  const auto program = ring(8, 20, 3, 1.4);
  const SimulatedRun ascending(program);
  const SimulatedRun mixed(program, {}, {5, 0, 7, 3, 1, 2, 6, 4});
  const Report a = trace_report(*analysed(ascending));
  const Report b = trace_report(*analysed(mixed));
  ASSERT_EQ(a.findings.size(), b.findings.size());
  for (std::size_t i = 0; i < a.findings.size(); ++i) {
    EXPECT_EQ(a.findings[i].kind, b.findings[i].kind);
    EXPECT_EQ(a.findings[i].lost_s, b.findings[i].lost_s);
    EXPECT_EQ(a.findings[i].text, b.findings[i].text);
  }
}

TEST(Analysis, NamesTheSlowRankOfARing) {
  const SimulatedRun run(ring(8, 40, 3, 1.4));
  const Report report = trace_report(*analysed(run));
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ(report.findings[0].kind, "load_imbalance");
  ASSERT_FALSE(report.findings[0].culprits.list.empty());
  EXPECT_EQ(report.findings[0].culprits.list[0].rank, 3);
  EXPECT_EQ(report.findings[0].level, FindingLevel::problem);
}

TEST(Analysis, IsSilentOnAHealthyRun) {
  const SimulatedRun run(ring(8, 40, 0, 1.0));
  for (const Finding& finding : trace_report(*analysed(run)).findings) {
    EXPECT_EQ(finding.level, FindingLevel::note) << finding.text;
  }
}

// One rank comes late to each of the calls that no planted run has.
TEST(Analysis, FindsWaitsOfFencesFilesAndInit) {
  struct Case {
    const char* call;
    WaitKind kind;
  };
  for (const Case& one : {Case{"MPI_Win_fence", WaitKind::wait_fence}, Case{"MPI_Win_create", WaitKind::wait_fence},
                          Case{"MPI_File_write_all", WaitKind::wait_io}, Case{"MPI_File_open", WaitKind::wait_io},
                          Case{"MPI_Init", WaitKind::wait_init}, Case{"MPI_Comm_split", WaitKind::wait_nxn}}) {
    std::vector<std::vector<Op>> program(4);
    for (std::size_t r = 0; r < program.size(); ++r) {
      program[r].push_back(io("MPI_Comm_rank", 10));
      program[r].push_back(compute(r == 2 ? 5000 : 1000));
      program[r].push_back(collective(one.call));
      program[r].push_back(collective("MPI_Finalize"));
    }
    const SimulatedRun run(program);
    EXPECT_EQ(waited(*analysed(run), one.kind), 3 * 4000.0) << one.call;
  }
}

// Receives of any tag whose status the trace does not have: the order of messages decides, so that nothing changes.
TEST(Analysis, MatchesReceivesOfAnyTagInOrder) {
  auto told = ring(5, 30, 2, 1.5);
  for (auto& of_rank : told) {
    std::int32_t sends = 0;
    std::int32_t receives = 0;
    for (Op& op : of_rank) {
      if (op.kind == Op::Kind::send) op.tag = sends++ % 3;
      if (op.kind == Op::Kind::recv) op.tag = receives++ % 3;
    }
  }
  auto any = told;
  int changed = 0;
  for (Op& op : any[3]) {
    if (op.kind == Op::Kind::recv && ++changed % 2 == 0) op.tag = -1;
  }
  ASSERT_EQ(changed, 30);
  const SimulatedRun run(told);
  const SimulatedRun unknown(any);
  const auto expected = analysed(run);
  const auto found = analysed(unknown);
  EXPECT_EQ(expected->run.messages, 5 * 30U);
  EXPECT_EQ(found->run.messages, expected->run.messages);
  EXPECT_GT(waited(*expected, WaitKind::late_sender), 0);
  EXPECT_EQ(waited(*found, WaitKind::late_sender), waited(*expected, WaitKind::late_sender));
}

TEST(Analysis, SaysWhichRanksAreMissing) {
  auto program = ring(6, 10, 2, 1.5);
  SimulatedRun run(program, {}, {0, 1, 2, 3, 5});
  const Work work = make_work();
  const auto analysis = analysed(run, work);
  EXPECT_EQ(analysis->run.missing, std::vector<std::int32_t>{4});
  EXPECT_FALSE(analysis->efficiencies.transfer.has_value());
  EXPECT_FALSE(analysis->efficiencies.why_not.empty());
  EXPECT_TRUE(work->diagnostics.defective());
}

TEST(Analysis, GivesTheSameInFilesAsInMemory) {
  const SimulatedRun run(ring(16, 400, 3, 1.2));
  const Work little = make_work(false, 1 << 20);
  const auto small = analysed(run, little);
  const auto large = analysed(run);
  EXPECT_EQ(waited(*small, WaitKind::late_sender), waited(*large, WaitKind::late_sender));
  EXPECT_GT(small->run.pool->in_files(), 0U);
  EXPECT_EQ(large->run.pool->in_files(), 0U);
  EXPECT_EQ(small->path.length, large->path.length);
}

// What is predicted for a run without its problem is what the simulator gives without it.
TEST(WhatIf, PredictsTheRunWithoutItsProblem) {
  const SimulatedRun slow(ring(8, 50, 3, 1.5));
  const SimulatedRun healthy(ring(8, 50, 3, 1.0));
  const auto analysis = analysed(slow);
  analysis::Change change;
  change.compute = {{3, 1 / 1.5}};
  auto prediction = analysis::what_if(*analysis, change);
  ASSERT_TRUE(prediction.ok());
  const double truth = static_cast<double>(healthy.runtime()) * 1e-9;
  EXPECT_NEAR(prediction->predicted_s, truth, 0.02 * truth);
  EXPECT_NEAR(prediction->replayed_s, prediction->recorded_s, 0.001 * prediction->recorded_s);
  EXPECT_GT(prediction->after.load_balance, 0.99);
}

TEST(WhatIf, PredictsAnotherNetwork) {
  Machine slow_network;
  slow_network.latency = 100'000;
  const auto program = ring(8, 50, 3, 1.1);
  const SimulatedRun slow(program, slow_network);
  const SimulatedRun fast(program);
  analysis::Change change;
  change.network = analysis::ReplayModel::Network::given;
  change.latency_ns = 2000;
  change.bytes_per_ns = 8;
  const auto analysis = analysed(slow);
  auto prediction = analysis::what_if(*analysis, change);
  ASSERT_TRUE(prediction.ok());
  const double truth = static_cast<double>(fast.runtime()) * 1e-9;
  EXPECT_NEAR(prediction->predicted_s, truth, 0.02 * truth);
  EXPECT_LT(prediction->predicted_s, 0.95 * prediction->recorded_s);
}

}  // namespace
}  // namespace fathom
