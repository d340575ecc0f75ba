#include "base/work.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/cancel.hpp"
#include "base/parallel.hpp"
#include "base/progress.hpp"

namespace fathom {
namespace {

TEST(Error, ReadsFromTheOutsideIn) {
  const Error error = Error("4 bytes expected", Place::at_offset("a.cubex", 0x1a)).with("row 3").with("metric 'time'");
  EXPECT_EQ(error.text(), "a.cubex:0x1a: metric 'time': row 3: 4 bytes expected");
  EXPECT_EQ(Error("x").where(Place::at_line("f", 7)).text(), "f:7: x");
}

TEST(Diagnostics, CountsRepetitionsPerFile) {
  Diagnostics diagnostics;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(diagnostics.warn("a.b", Place::in("f"), "text").ok());
  ASSERT_TRUE(diagnostics.warn("a.b", Place::in("g"), "text").ok());
  diagnostics.info("c", Place::in("f"), "note");
  const auto all = diagnostics.all();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].count, 3U);
  EXPECT_EQ(all[1].place.file, "g");
  EXPECT_TRUE(diagnostics.defective());
}

TEST(Diagnostics, AreErrorsUnderStrict) {
  Diagnostics diagnostics(true);
  diagnostics.info("c", Place::in("f"), "note");
  EXPECT_FALSE(diagnostics.defective());
  const auto status = diagnostics.warn("a.b", Place::in("f"), "text");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind(), ErrorKind::refused);
}

TEST(Budget, MayGoBeforeItsReservations) {
  Budget::Reservation kept;
  {
    Budget budget(100);
    kept = *budget.reserve(60, "sixty");
  }
  kept = {};  // gives back to nobody; only a sanitizer would notice a fault
}

TEST(Budget, GivesBackWhatWasReserved) {
  Budget budget(100);
  {
    const auto first = budget.reserve(60, "a table");
    ASSERT_TRUE(first.ok());
    const auto second = budget.reserve(60, "a table");
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.error().text(), "a table needs 60 bytes of memory, 60 of 100 are in use");
    EXPECT_FALSE(budget.reserve(0xFFFFFFFFFFFFFFFF, "a lie").ok());
  }
  EXPECT_EQ(budget.used(), 0U);
}

TEST(Parallel, CoversEveryIndexOnce) {
  std::vector<std::atomic<int>> seen(1000);
  ASSERT_TRUE(parallel_blocks(seen.size(), 7, [&](std::size_t begin, std::size_t end) -> Result<void> {
                for (std::size_t i = begin; i < end; ++i) ++seen[i];
                return {};
              }).ok());
  for (const auto& count : seen) EXPECT_EQ(count, 1);
}

TEST(Parallel, PassesOnAnError) {
  const auto status = parallel_for(100, [](std::size_t i) -> Result<void> {
    if (i == 41) return Error("forty-one");
    return {};
  });
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().what(), "forty-one");
}

TEST(Parallel, StopsWhenCancelled) {
  const auto flag = std::make_shared<std::atomic<bool>>(true);
  const Execution execution(0, flag);
  const auto nothing = [](std::size_t) -> Result<void> { return {}; };
  {
    const ExecutionScope scope(execution);
    const auto status = parallel_for(10, nothing);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().kind(), ErrorKind::cancelled);
  }
  // Others are not concerned.
  EXPECT_TRUE(parallel_for(10, nothing).ok());
}

TEST(Parallel, ThreadsThatHelpWorkAsTheOneThatAsked) {
  const auto flag = std::make_shared<std::atomic<bool>>(false);
  const Execution execution(2, flag);
  const ExecutionScope scope(execution);
  std::atomic<int> wrong{0};
  std::atomic<int> inner{0};
  ASSERT_TRUE(parallel_for(100, [&](std::size_t) -> Result<void> {
                if (&Execution::current() != &execution || thread_count() != 2) ++wrong;
                return parallel_for(3, [&](std::size_t) -> Result<void> {
                  if (&Execution::current() != &execution) ++wrong;
                  ++inner;
                  return {};
                });
              }).ok());
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(inner, 300);
}

TEST(Parallel, KeepsToTheNumberOfThreads) {
  const Execution single(1);
  const ExecutionScope scope(single);
  std::atomic<int> now{0};
  std::atomic<int> most{0};
  ASSERT_TRUE(parallel_for(200, [&](std::size_t) -> Result<void> {
                const int running = ++now;
                if (running > most) most = running;
                --now;
                return {};
              }).ok());
  EXPECT_EQ(most, 1);
}

TEST(Progress, TellsTheExecutionOfTheOneWhoWorks) {
  std::vector<std::uint64_t> done;
  bool finished = false;
  const Execution execution(0, nullptr, [&](const ProgressReport& report) {
    EXPECT_EQ(report.label, "work");
    done.push_back(report.done);
    finished = report.finished;
  });
  {
    const ExecutionScope scope(execution);
    Progress progress("work", 3);
    progress.advance();
    EXPECT_TRUE(done.empty());  // short work is silent
    std::this_thread::sleep_for(std::chrono::milliseconds(510));
    progress.advance();
  }
  ASSERT_EQ(done.size(), 2U);
  EXPECT_EQ(done.front(), 2U);
  EXPECT_TRUE(finished);
}

}  // namespace
}  // namespace fathom
