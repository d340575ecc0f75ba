// Waiting for windows, from first principles: seconds on paper.
#include <gtest/gtest.h>

#include "trace/analysis/analysis.hpp"
#include "trace/made_ranks.hpp"

namespace fathom {
namespace {

using analysis::Analysis;
using analysis::WaitKind;
using test::kSecond;
using test::MadeRanks;

struct Found {
  WaitKind kind;
  std::uint32_t rank;
  std::uint32_t culprit;
  std::int64_t seconds;
  friend bool operator==(const Found&, const Found&) = default;
};
std::ostream& operator<<(std::ostream& out, const Found& found) {
  return out << to_string(found.kind) << " of " << found.rank << " for " << found.culprit << ": " << found.seconds;
}

std::vector<Found> waits(const Trace& trace, std::unique_ptr<Analysis>* keep = nullptr) {
  auto result = analysis::analyse(trace, make_work());
  std::vector<Found> out;
  if (!result.ok()) {
    ADD_FAILURE() << result.error().text();
    return out;
  }
  for (std::uint32_t l = 0; l < (*result)->waits.locations.size(); ++l) {
    for (const auto& wait : (*result)->waits.locations[l].waits) {
      out.push_back({wait.kind, l, wait.culprit, wait.length / kSecond});
    }
  }
  if (keep != nullptr) *keep = std::move(*result);
  return out;
}

// Everybody begins at 0 and comes to the end at 100.
struct Windows : MadeRanks {
  explicit Windows(std::size_t ranks) : MadeRanks(ranks) {
    const auto barrier = region("MPI_Barrier", "mpi");
    for (std::size_t r = 0; r < ranks; ++r) call(r, barrier, 0, 1, true);
  }
  void window_call(std::size_t rank, std::string_view name, std::int64_t from, std::int64_t to,
                   std::uint64_t group = Event::kNoRecord, std::int32_t target = kNoPeer) {
    const auto made = region(std::string(name), "mpi");
    Event& enter = add(EventKind::enter, from * kSecond, made, rank);
    enter.communicator = CommunicatorId(0);
    enter.origin = group;
    enter.peer = target;
    add(EventKind::leave, to * kSecond, made, rank);
  }
  void finish(std::size_t ranks) {
    const auto finalize = region("MPI_Finalize", "mpi");
    for (std::size_t r = 0; r < ranks; ++r) call(r, finalize, 100, 100);
  }
};

TEST(Windows, AStartWaitsForTheLatestPost) {
  Windows trace(3);
  const auto origin = trace.group({0});
  const auto targets = trace.group({1, 2});
  trace.window_call(0, "MPI_Win_start", 10, 41, targets);
  trace.window_call(0, "MPI_Win_complete", 50, 51);
  trace.window_call(1, "MPI_Win_post", 20, 21, origin);
  trace.window_call(1, "MPI_Win_wait", 30, 52);
  trace.window_call(2, "MPI_Win_post", 40, 41, origin);
  trace.window_call(2, "MPI_Win_wait", 60, 61);
  trace.finish(3);
  const std::vector<Found> expected = {{WaitKind::late_post, 0, 2, 30}, {WaitKind::early_wait, 1, 0, 20}};
  std::unique_ptr<Analysis> analysis;
  EXPECT_EQ(waits(trace, &analysis), expected);
  EXPECT_EQ(analysis->path.length, 100 * kSecond);
  ASSERT_TRUE(analysis->efficiencies.ideal_runtime.has_value()) << analysis->efficiencies.why_not;
}

// OTF2 has an event inside of the call instead of arguments.
TEST(Windows, AMarkerInTheCallMayTellTheGroup) {
  Windows trace(2);
  const auto origin = trace.group({0});
  const auto target = trace.group({1});
  const auto call = [&](std::size_t rank, const char* name, std::int64_t from, std::int64_t to, std::uint64_t group) {
    const auto made = trace.region(name, "mpi");
    trace.add(EventKind::enter, from * kSecond, made, rank);
    Event& sync = trace.add(EventKind::marker, to * kSecond, Event::kNoName, rank);
    sync.communicator = CommunicatorId(0);
    sync.origin = group;
    trace.add(EventKind::leave, to * kSecond, made, rank);
  };
  call(0, "MPI_Win_start", 10, 41, target);
  call(0, "MPI_Win_complete", 50, 51, target);
  call(1, "MPI_Win_post", 40, 41, origin);
  call(1, "MPI_Win_wait", 42, 52, Event::kNoRecord);
  trace.finish(2);
  const std::vector<Found> expected = {{WaitKind::late_post, 0, 1, 30}, {WaitKind::early_wait, 1, 0, 8}};
  EXPECT_EQ(waits(trace), expected);
}

TEST(Windows, ACompleteWaitsWhereTheStartDoesNot) {
  Windows trace(2);
  const auto origin = trace.group({0});
  const auto target = trace.group({1});
  for (const int step : {0, 40}) {
    trace.window_call(0, "MPI_Win_start", 10 + step, 11 + step, target);
    trace.window_call(0, "MPI_Win_complete", 15 + step, 26 + step);
    trace.window_call(1, "MPI_Win_post", 25 + step, 26 + step, origin);
    trace.window_call(1, "MPI_Win_wait", 30 + step, 31 + step);
  }
  trace.finish(2);
  const std::vector<Found> expected = {{WaitKind::late_post, 0, 1, 10}, {WaitKind::late_post, 0, 1, 10}};
  EXPECT_EQ(waits(trace), expected);
}

// The first epoch is begun and never completed: nobody waits in it, and the next one is matched with its own post.
TEST(Windows, AnEpochThatIsNeverCompletedIsSkipped) {
  Windows trace(2);
  const auto origin = trace.group({0});
  const auto target = trace.group({1});
  trace.window_call(0, "MPI_Win_start", 10, 11, target);
  trace.window_call(0, "MPI_Win_start", 20, 41, target);
  trace.window_call(0, "MPI_Win_complete", 50, 51);
  trace.window_call(1, "MPI_Win_post", 5, 6, origin);
  trace.window_call(1, "MPI_Win_wait", 12, 13);
  trace.window_call(1, "MPI_Win_post", 40, 41, origin);
  trace.window_call(1, "MPI_Win_wait", 45, 52);
  trace.finish(2);
  const std::vector<Found> expected = {{WaitKind::late_post, 0, 1, 20}, {WaitKind::early_wait, 1, 0, 5}};
  EXPECT_EQ(waits(trace), expected);
}

// Nothing comes behind it either, and its target waits to the end.
TEST(Windows, AnEpochThatIsOpenAtTheEndIsNotCounted) {
  Windows trace(2);
  const auto origin = trace.group({0});
  const auto target = trace.group({1});
  trace.window_call(0, "MPI_Win_start", 10, 11, target);
  trace.window_call(1, "MPI_Win_post", 5, 6, origin);
  trace.window_call(1, "MPI_Win_wait", 12, 90);
  trace.finish(2);
  std::unique_ptr<Analysis> analysis;
  EXPECT_EQ(waits(trace, &analysis), std::vector<Found>{});
  ASSERT_NE(analysis, nullptr);
  EXPECT_TRUE(analysis->run.locations[1].window_needs.empty());
}

TEST(Windows, ALockWaitsForTheOneWhoHoldsIt) {
  for (const bool shared : {false, true}) {
    Windows trace(3);
    const std::uint64_t how = shared ? 0 : 1;
    trace.window_call(0, "MPI_Win_lock", 10, 11, how, 2);
    trace.window_call(0, "MPI_Win_unlock", 30, 40, Event::kNoRecord, 2);
    trace.window_call(1, "MPI_Win_lock", 15, 45, how, 2);
    trace.window_call(1, "MPI_Win_unlock", 50, 51, Event::kNoRecord, 2);
    // The window of another rank is not held by it.
    trace.window_call(2, "MPI_Win_lock", 20, 48, 1, 0);
    trace.window_call(2, "MPI_Win_unlock", 49, 50, Event::kNoRecord, 0);
    trace.finish(3);
    std::unique_ptr<Analysis> analysis;
    const std::vector<Found> expected = {{WaitKind::lock_contention, 1, 0, 25}};
    EXPECT_EQ(waits(trace, &analysis), shared ? std::vector<Found>{} : expected);
    EXPECT_EQ(analysis->path.length, 100 * kSecond);
  }
}

TEST(Windows, AnUnlockWaitsWhereTheLockDoesNot) {
  Windows trace(3);
  trace.window_call(0, "MPI_Win_lock", 10, 11, 1, 2);
  trace.window_call(0, "MPI_Win_unlock", 30, 40, Event::kNoRecord, 2);
  trace.window_call(1, "MPI_Win_lock", 12, 13, 0, 2);
  trace.window_call(1, "MPI_Win_unlock", 20, 50, Event::kNoRecord, 2);
  trace.finish(3);
  const std::vector<Found> expected = {{WaitKind::lock_contention, 1, 0, 20}};
  EXPECT_EQ(waits(trace), expected);
}

}  // namespace
}  // namespace fathom
