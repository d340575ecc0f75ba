#include "trace/analysis/threads.hpp"

#include <gtest/gtest.h>

#include "trace/made_ranks.hpp"

namespace fathom {
namespace {

using analysis::ProcessTimes;
using analysis::thread_efficiencies;
using analysis::ThreadEfficiencies;
using test::kSecond;
using test::MadeTrace;

struct TraceWithRoles : MadeTrace {
  using MadeTrace::MadeTrace;
  void role(std::uint32_t region, const char* role) { definitions_.regions[region].role = role; }
};

// Two threads over 100 s: alone for 20, then a parallel region of 60 in which one works 60 and the other 30, then MPI.
void expect_hybrid(const ThreadEfficiencies& e) {
  EXPECT_EQ(e.threads, 2);
  EXPECT_NEAR(e.runtime, 100.0 * kSecond, 1);
  EXPECT_NEAR(e.process, 0.8, 1e-9);  // 20 alone and 60 in parallel
  EXPECT_NEAR(e.process_load_balance, 1, 1e-9);
  EXPECT_NEAR(e.serial_region, 0.9, 1e-9);     // one thread of two idle for 20
  EXPECT_NEAR(e.parallel_region, 0.85, 1e-9);  // 30 of 200
  EXPECT_NEAR(e.thread, 0.75, 1e-9);
  EXPECT_NEAR(e.parallel, 110.0 / 200, 1e-9);  // 20 + 60 + 30 useful
  EXPECT_NEAR(e.mpi_parallel, 110.0 / 130, 1e-9);
  EXPECT_NEAR(e.omp_parallel, 130.0 / 200, 1e-9);
  EXPECT_NEAR(e.omp_load_balance, 130.0 / 160, 1e-9);
  EXPECT_NEAR(e.omp_scheduling * e.omp_load_balance * e.omp_serialisation, e.omp_parallel, 1e-9);
}

TEST(Threads, FollowTheFormulas) {
  ProcessTimes process;
  process.threads = 2;
  process.useful = 110.0 * kSecond;
  process.inside = 90.0 * kSecond;
  process.parallel = 60.0 * kSecond;
  process.mpi = 20.0 * kSecond;
  process.barrier = 30.0 * kSecond;
  expect_hybrid(thread_efficiencies({process}, 100.0 * kSecond));
}

TEST(Threads, AreReadFromRegions) {
  TraceWithRoles trace(2);
  const auto main = trace.region("main");
  const auto parallel = trace.region("!$omp parallel", "openmp");
  const auto barrier = trace.region("!$omp implicit barrier", "openmp");
  const auto finalize = trace.region("MPI_Finalize", "mpi");
  trace.role(parallel, "parallel");
  trace.role(barrier, "implicit barrier");
  const auto at = [&](EventKind kind, std::int64_t s, std::uint32_t region, std::size_t thread) {
    trace.add(kind, s * kSecond, region, thread);
  };
  at(EventKind::enter, 0, main, 0);
  at(EventKind::enter, 20, parallel, 0);
  at(EventKind::leave, 80, parallel, 0);
  at(EventKind::enter, 80, finalize, 0);
  at(EventKind::leave, 100, finalize, 0);
  at(EventKind::leave, 100, main, 0);
  at(EventKind::enter, 20, parallel, 1);
  at(EventKind::enter, 50, barrier, 1);
  at(EventKind::leave, 80, barrier, 1);
  at(EventKind::leave, 80, parallel, 1);
  const auto found = thread_efficiencies(trace, make_work());
  ASSERT_TRUE(found.ok()) << found.error().text();
  expect_hybrid(*found);
}

// As files with one location for each counter of the hardware have it.
TEST(Threads, LocationsWithNothingButCountersAreNone) {
  TraceWithRoles trace(3);
  const auto main = trace.region("main");
  trace.add(EventKind::enter, 10 * kSecond, main, 0);
  trace.add(EventKind::leave, 60 * kSecond, main, 0);
  trace.add(EventKind::counter, 0, 0, 1);
  trace.add(EventKind::counter, 100 * kSecond, 0, 1);
  trace.add(EventKind::counter, 20 * kSecond, 0, 2);
  const auto found = thread_efficiencies(trace, make_work());
  ASSERT_TRUE(found.ok()) << found.error().text();
  EXPECT_EQ(found->threads, 1);
  EXPECT_NEAR(found->runtime, 50.0 * kSecond, 1);
  EXPECT_NEAR(found->parallel, 1, 1e-9);
}

// One task of 30 s, paused for 10 of them, on one thread that runs for 100.
TEST(Threads, TasksAreUsefulWhileTheirThreadRuns) {
  TraceWithRoles trace;
  const auto thread = trace.region("thread", "ovni");
  const auto task = trace.region("solve", "nanos6");
  const auto worker = trace.region("nanos6 Worker: Handling task", "nanos6");
  trace.role(thread, "thread");
  trace.role(task, "task");
  const auto state = trace.channel("thread state", {{1, "Running"}, {2, "Paused"}});
  trace.add(EventKind::state, 0, state).value = 1;
  trace.add(EventKind::enter, 0, thread);
  trace.add(EventKind::enter, 10 * kSecond, worker);
  trace.add(EventKind::enter, 20 * kSecond, task);
  trace.add(EventKind::state, 30 * kSecond, state).value = 2;
  trace.add(EventKind::state, 40 * kSecond, state).value = 1;
  trace.add(EventKind::leave, 50 * kSecond, task);
  trace.add(EventKind::leave, 60 * kSecond, worker);
  trace.add(EventKind::leave, 100 * kSecond, thread);
  const auto found = thread_efficiencies(trace, make_work());
  ASSERT_TRUE(found.ok()) << found.error().text();
  EXPECT_EQ(found->threads, 1);
  EXPECT_NEAR(found->parallel, 0.2, 1e-9);
  EXPECT_NEAR(found->omp_scheduling, 20.0 / 40, 1e-9);  // the worker takes 20 around the task
}

// No word about parallel regions: the second thread, which works from 4 to 8 of 10 s, is there to work beside the
// first.
TEST(Threads, OthersThanTheFirstWorkInParallelWhereNothingElseIsSaid) {
  MadeTrace trace(2);
  const auto work = trace.region("work");
  const auto at = [&](EventKind kind, std::int64_t s, std::size_t thread) {
    trace.add(kind, s * kSecond, work, thread);
  };
  at(EventKind::enter, 0, 0);
  at(EventKind::leave, 10, 0);
  at(EventKind::enter, 4, 1);
  at(EventKind::leave, 8, 1);
  const auto found = thread_efficiencies(trace, make_work());
  ASSERT_TRUE(found.ok()) << found.error().text();
  EXPECT_EQ(found->threads, 2);
  EXPECT_NEAR(found->process, 1, 1e-9);
  EXPECT_NEAR(found->serial_region, 0.7, 1e-9);  // one of two idle for 6 s
  EXPECT_NEAR(found->parallel_region, 1, 1e-9);
  EXPECT_NEAR(found->parallel, 14.0 / 20, 1e-9);
}

TEST(Threads, SayWhenNothingCanBeTold) {
  MadeTrace trace;
  const auto call = trace.region("MPI_Barrier", "mpi");
  trace.add(EventKind::enter, 0, call);
  trace.add(EventKind::leave, kSecond, call);
  EXPECT_FALSE(thread_efficiencies(trace, make_work()).ok());
}

}  // namespace
}  // namespace fathom
