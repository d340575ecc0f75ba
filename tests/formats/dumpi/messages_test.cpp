// Requests and messages on traces built here; who gets what follows from the rules of MPI.
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "formats/dumpi/dumpi_trace.hpp"
#include "formats/dumpi/requests.hpp"
#include "formats/dumpi/trace_maker.hpp"
#include "trace/made_trace.hpp"
#include "trace/merge.hpp"

namespace fathom::dumpi {
namespace {

constexpr int kWorld = 2;
constexpr int kChar = 2;
constexpr int kInt = 9;
constexpr int kAny = -1;
constexpr int kUndefined = -32766;
constexpr std::int64_t kNoRecord = -1;

// Sender's rank and record, receiver's rank and record, bytes.
using Pair = std::tuple<int, std::uint64_t, int, std::uint64_t, std::int64_t>;

class DumpiMessages : public DumpiRun {
 protected:
  void make(const std::vector<TraceMaker>& ranks) {
    const auto set = run(ranks);
    ASSERT_NE(set, nullptr);
    auto trace = DumpiTrace::make(set);
    ASSERT_TRUE(trace.ok()) << trace.error().text();
    trace_ = *trace;
  }
  std::vector<Pair> messages(TimeWindow window = {}) {
    std::vector<Pair> pairs;
    EXPECT_TRUE(trace_
                    ->messages(window,
                               [&](const Message& message) {
                                 pairs.emplace_back(message.from_rank, message.send_record, message.to_rank,
                                                    message.recv_record, message.bytes);
                                 return true;
                               })
                    .ok());
    std::sort(pairs.begin(), pairs.end());
    return pairs;
  }
  struct Seen {
    EventKind kind;
    std::uint64_t record;
    std::int64_t origin;
    std::int32_t peer;
    std::int64_t bytes;
    std::int64_t time_ns;
    bool operator==(const Seen&) const = default;
  };
  std::vector<Seen> events(std::size_t location, TimeWindow window = {}, bool all = false) {
    std::vector<Seen> seen;
    auto stream = trace_->open(LocationId(location), window);
    EXPECT_TRUE(stream.ok());
    EventCursor cursor(*std::move(stream), 7);
    while (const Event* event = cursor.next()) {
      if (!all && (event->kind == EventKind::enter || event->kind == EventKind::leave)) continue;
      seen.push_back({event->kind, event->record,
                      event->origin == Event::kNoRecord ? kNoRecord : static_cast<std::int64_t>(event->origin),
                      event->peer, event->bytes, event->time_ns});
    }
    EXPECT_TRUE(cursor.status().ok());
    return seen;
  }
  std::size_t count(std::size_t location, EventKind kind) {
    std::size_t found = 0;
    for (const Seen& seen : events(location)) found += seen.kind == kind ? 1 : 0;
    return found;
  }
  std::shared_ptr<const DumpiTrace> trace_;
};

TEST_F(DumpiMessages, MatchInTheOrderOfPostingNotOfCompletion) {
  std::vector<TraceMaker> ranks(2);
  ranks[0].send("MPI_Send", 1, kInt, 1, 7, kWorld);      // 0
  ranks[0].send("MPI_Isend", 2, kInt, 1, 7, kWorld, 3);  // 1
  ranks[0].send("MPI_Ssend", 3, kInt, 1, 8, kWorld);     // 2
  ranks[0].call("MPI_Wait", {{"request", 3}});           // 3
  ranks[1].irecv(5, kInt, 0, 7, kWorld, 2);              // 0: gets the first
  ranks[1].irecv(5, kInt, 0, 7, kWorld, 3);              // 1: gets the second
  ranks[1].irecv(5, kInt, 0, kAny, kWorld, 4);           // 2: tag 8, or nothing of tag 7 is left
  ranks[1].call("MPI_Waitany", {{"requests", list({2, 3, 4})}, {"index", 1}, {"status", got(8, 0, 7)}});  // 3
  ranks[1].call("MPI_Waitall",
                {{"requests", list({4, 2})}, {"statuses", statuses({{12, 0, 8, 0, 0}, {4, 0, 7, 0, 0}})}});  // 4
  make(ranks);
  EXPECT_EQ(messages(), (std::vector<Pair>{{0, 0, 1, 4, 4}, {0, 1, 1, 3, 8}, {0, 2, 1, 4, 12}}));
  // What was posted and what was received may differ: the status counts.
  EXPECT_EQ(events(1)[0], (Seen{EventKind::recv, 3, 1, 0, 8, events(1)[0].time_ns}));
}

TEST_F(DumpiMessages, WildcardsTakeTheRecordedSourceAndTag) {
  std::vector<TraceMaker> ranks(3);
  ranks[0].send("MPI_Send", 1, kInt, 2, 5, kWorld);
  ranks[1].send("MPI_Send", 1, kInt, 2, 6, kWorld);
  ranks[2].recv(1, kInt, kAny, kAny, kWorld, got(4, 1, 6));
  ranks[2].recv(1, kInt, kAny, 5, kWorld, got(4, 0, 5));
  // Nothing is left for this one: it may have been from the null process.
  ranks[2].recv(1, kInt, kAny, 5, kWorld, {});
  make(ranks);
  EXPECT_EQ(messages(), (std::vector<Pair>{{0, 0, 2, 1, 4}, {1, 0, 2, 0, 4}}));
  EXPECT_EQ(events(2)[2].peer, kUnknownPeer);
}

// Rank 0 sends 4, 8 and 12 bytes to rank 2, which does not receive all of it; the receive from anybody is posted first,
// so that the one from rank 0 may have got a later message. Rank 1 has nothing left: what was received from it is
// certain.
TEST_F(DumpiMessages, ReceivesBehindOneFromSomebodyUnknownAreUncertain) {
  std::vector<TraceMaker> ranks(3);
  for (const int count : {1, 2, 3}) ranks[0].send("MPI_Send", count, kInt, 2, 5, kWorld);
  ranks[1].send("MPI_Send", 1, kInt, 2, 5, kWorld);
  ranks[2].recv(9, kInt, kAny, 5, kWorld, {});
  ranks[2].recv(9, kInt, 0, 5, kWorld, {});
  ranks[2].recv(9, kInt, 1, 5, kWorld, {});
  make(ranks);
  EXPECT_EQ(messages().size(), 2U);
  const auto all = work_->diagnostics.all();
  const auto found =
      std::find_if(all.begin(), all.end(), [](const auto& one) { return one.id == "trace.uncertain_message"; });
  ASSERT_NE(found, all.end());
  EXPECT_EQ(found->count, 1U);
}

TEST_F(DumpiMessages, AReceiveFromAnybodyWithAnotherTagOrPostedLaterTookNothing) {
  std::vector<TraceMaker> ranks(2);
  for (int n = 0; n < 3; ++n) ranks[0].send("MPI_Send", 1, kInt, 1, 5, kWorld);
  ranks[1].recv(9, kInt, kAny, 6, kWorld, {});
  ranks[1].recv(9, kInt, 0, 5, kWorld, {});
  ranks[1].recv(9, kInt, kAny, 5, kWorld, {});
  make(ranks);
  EXPECT_EQ(messages(), (std::vector<Pair>{{0, 0, 1, 1, 4}}));
  EXPECT_EQ(noticed_times("trace.uncertain_message"), 0);
}

// All that nobody received by name was taken by the receives from anybody: where one process alone has sent it, it was
// that one. Tags are apart from each other.
TEST_F(DumpiMessages, AReceiveFromAnybodyTookWhatIsLeft) {
  std::vector<TraceMaker> ranks(3);
  ranks[0].send("MPI_Send", 1, kInt, 2, 5, kWorld);
  ranks[0].send("MPI_Send", 2, kInt, 2, 5, kWorld);
  ranks[0].send("MPI_Send", 3, kInt, 2, 6, kWorld);
  ranks[1].send("MPI_Send", 4, kInt, 2, 5, kWorld);
  ranks[1].send("MPI_Send", 5, kInt, 2, 7, kWorld);
  ranks[2].recv(9, kInt, kAny, 5, kWorld, {});
  ranks[2].recv(9, kInt, 0, 5, kWorld, {});
  ranks[2].recv(9, kInt, 1, 5, kWorld, {});
  ranks[2].recv(9, kInt, kAny, 7, kWorld, {});
  ranks[2].recv(9, kInt, kAny, 6, kWorld, {});
  make(ranks);
  EXPECT_EQ(messages(), (std::vector<Pair>{
                            {0, 0, 2, 0, 4}, {0, 1, 2, 1, 8}, {0, 2, 2, 4, 12}, {1, 0, 2, 2, 16}, {1, 1, 2, 3, 20}}));
  EXPECT_EQ(noticed_times("trace.uncertain_message"), 0);
  EXPECT_EQ(noticed_times("dumpi.likely_sender"), 0);
  EXPECT_EQ(noticed_times("trace.unknown_peer"), 0);
}

// Any tag as well: what was sent keeps its order.
TEST_F(DumpiMessages, AReceiveOfAnythingTookWhatIsLeft) {
  std::vector<TraceMaker> ranks(2);
  ranks[0].send("MPI_Send", 1, kInt, 1, 5, kWorld);
  ranks[0].send("MPI_Send", 2, kInt, 1, 6, kWorld);
  ranks[0].send("MPI_Send", 3, kInt, 1, 5, kWorld);
  ranks[1].recv(9, kInt, kAny, 6, kWorld, {});
  ranks[1].recv(9, kInt, kAny, kAny, kWorld, {});
  ranks[1].recv(9, kInt, 0, 5, kWorld, {});
  make(ranks);
  EXPECT_EQ(messages(), (std::vector<Pair>{{0, 0, 1, 1, 4}, {0, 1, 1, 0, 8}, {0, 2, 1, 2, 12}}));
  EXPECT_EQ(noticed_times("trace.unknown_peer"), 0);
}

// Some libraries record the null process as anybody. What nothing is left for does not stand in the way of the others.
TEST_F(DumpiMessages, AReceiveFromNobodyLeavesTheOthersAlone) {
  std::vector<TraceMaker> ranks(2);
  ranks[0].send("MPI_Send", 1, kInt, 1, 5, kWorld);
  ranks[0].send("MPI_Send", 2, kInt, 1, 6, kWorld);
  ranks[1].recv(9, kInt, kAny, 6, kWorld, {});
  ranks[1].recv(9, kInt, 0, 6, kWorld, {});
  ranks[1].recv(9, kInt, kAny, kAny, kWorld, {});
  make(ranks);
  EXPECT_EQ(messages(), (std::vector<Pair>{{0, 0, 1, 2, 4}, {0, 1, 1, 1, 8}}));
}

// When no receive is under way and as much has arrived as was sent, what comes later has nothing to do with it: the
// first receive from anybody got the message of rank 0, the second that of rank 1. In the end both have sent one and
// either may have come first: that is a guess, and said.
TEST_F(DumpiMessages, ReceivesFromAnybodyAreApartInTime) {
  std::vector<TraceMaker> ranks(3);
  ranks[0].at(1000).send("MPI_Send", 1, kInt, 2, 5, kWorld);
  ranks[2].at(2000).recv(9, kInt, kAny, 5, kWorld, {});
  ranks[1].at(3000).send("MPI_Send", 2, kInt, 2, 5, kWorld);
  ranks[2].at(4000).recv(9, kInt, kAny, 5, kWorld, {});
  ranks[1].at(5000).send("MPI_Send", 3, kInt, 2, 5, kWorld);
  ranks[0].at(6000).send("MPI_Send", 4, kInt, 2, 5, kWorld);
  ranks[2].at(7000).recv(9, kInt, kAny, 5, kWorld, {});
  ranks[2].at(8000).recv(9, kInt, kAny, 5, kWorld, {});
  make(ranks);
  EXPECT_EQ(messages(), (std::vector<Pair>{{0, 0, 2, 0, 4}, {0, 1, 2, 3, 16}, {1, 0, 2, 1, 8}, {1, 1, 2, 2, 12}}));
  const auto all = work_->diagnostics.all();
  const auto guessed = std::ranges::find(all, "dumpi.likely_sender", &Diagnostic::id);
  ASSERT_NE(guessed, all.end());
  EXPECT_EQ(guessed->count, 2U);
  // A window shows the same senders.
  const std::int64_t zero = std::int64_t{kWallBias} * 1'000'000'000;
  EXPECT_EQ(messages({zero + 6500, zero + 9000}).size(), 2U);
  EXPECT_EQ(events(2, {zero + 3500, zero + 9000})[0].peer, 1);
}

// Clocks of the CPU say nothing about what came first.
TEST_F(DumpiMessages, WithoutWallTimesSeveralSendersStayUnknown) {
  std::vector<TraceMaker> ranks(3);
  for (TraceMaker& rank : ranks) rank.mask(0x47);
  ranks[0].send("MPI_Send", 1, kInt, 2, 5, kWorld);
  ranks[1].send("MPI_Send", 2, kInt, 2, 5, kWorld);
  ranks[1].send("MPI_Send", 3, kInt, 2, 6, kWorld);
  ranks[2].recv(9, kInt, kAny, 5, kWorld, {});
  ranks[2].recv(9, kInt, kAny, 5, kWorld, {});
  ranks[2].recv(9, kInt, kAny, 6, kWorld, {});
  make(ranks);
  EXPECT_EQ(messages(), (std::vector<Pair>{{1, 1, 2, 2, 12}}));
  EXPECT_EQ(noticed_times("trace.unknown_peer"), 1);
}

// Where there is no memory to look for them senders stay unknown, and that is said.
TEST_F(DumpiMessages, WithoutMemorySendersStayUnknown) {
  std::vector<TraceMaker> ranks(2);
  for (int n = 0; n < 2000; ++n) {
    ranks[0].send("MPI_Send", 1, kInt, 1, 5, kWorld);
    ranks[1].recv(9, kInt, kAny, 5, kWorld, {});
  }
  const auto set = run(ranks);
  ASSERT_NE(set, nullptr);
  const auto rest = work_->budget.reserve(work_->budget.limit() - work_->budget.used() - 100'000, "all but a little");
  ASSERT_TRUE(rest.ok());
  const auto trace = DumpiTrace::make(set);
  ASSERT_TRUE(trace.ok()) << trace.error().text();
  trace_ = *trace;
  EXPECT_EQ(events(1)[0].peer, kUnknownPeer);
  EXPECT_EQ(noticed_times("dumpi.senders_need_memory"), 1);
}

TEST_F(DumpiMessages, NobodyIsNoPeer) {
  std::vector<TraceMaker> ranks(2);
  for (int r = 0; r < 2; ++r) {
    auto& rank = ranks[static_cast<std::size_t>(r)];
    // A shift in a line: rank 0 has no left, rank 1 no right neighbour.
    rank.call("MPI_Sendrecv", {{"sendcount", 3},
                               {"sendtype", kChar},
                               {"dest", r == 0 ? 1 : -1},
                               {"sendtag", 4},
                               {"recvcount", 9},
                               {"recvtype", kChar},
                               {"source", r == 1 ? 0 : -1},
                               {"recvtag", 4},
                               {"comm", kWorld},
                               {"status", r == 1 ? got(3, 0, 4) : got(0, -1, -1)}});
    rank.call("MPI_Sendrecv_replace", {{"count", 2},
                                       {"datatype", kInt},
                                       {"dest", 1 - r},
                                       {"sendtag", r},
                                       {"source", 1 - r},
                                       {"recvtag", 1 - r},
                                       {"comm", kWorld},
                                       {"status", got(8, 1 - r, 1 - r)}});
    rank.send("MPI_Send", 1, kInt, -2, 0, kWorld);
  }
  make(ranks);
  EXPECT_EQ(messages(), (std::vector<Pair>{{0, 0, 1, 0, 3}, {0, 1, 1, 1, 8}, {1, 1, 0, 1, 8}}));
  for (const Seen& seen : events(0)) {
    if (seen.kind == EventKind::recv && seen.record == 0) {
      EXPECT_EQ(seen.peer, kNoPeer);
    }
    if (seen.kind == EventKind::send && seen.record == 2) {
      EXPECT_EQ(seen.peer, kNoPeer);
    }
  }
}

TEST_F(DumpiMessages, PersistentRequestsSendEachTimeTheyAreStarted) {
  std::vector<TraceMaker> ranks(2);
  ranks[0].send("MPI_Send_init", 4, kInt, 1, 1, kWorld, 2);     // 0
  ranks[0].send("MPI_Ssend_init", 5, kInt, 1, 2, kWorld, 3);    // 1
  ranks[0].call("MPI_Startall", {{"requests", list({2, 3})}});  // 2
  ranks[0].call("MPI_Waitall", {{"requests", list({2, 3})}});   // 3
  ranks[0].call("MPI_Start", {{"request", 2}});                 // 4
  ranks[0].call("MPI_Wait", {{"request", 2}});                  // 5
  ranks[0].call("MPI_Wait", {{"request", 2}});                  // 6: not active, completes nothing
  ranks[0].call("MPI_Request_free", {{"request", 2}});          // 7
  ranks[0].send("MPI_Isend", 6, kInt, 1, 1, kWorld, 2);         // 8: the id again
  ranks[0].call("MPI_Test", {{"request", 2}, {"flag", 0}});     // 9
  ranks[0].call("MPI_Test", {{"request", 2}, {"flag", 1}});     // 10
  ranks[1].irecv(9, kInt, 0, 1, kWorld, 2, "MPI_Recv_init");    // 0
  for (int n = 0; n < 3; ++n) {
    ranks[1].call("MPI_Start", {{"request", 2}});                                          // 1 3 5
    ranks[1].call("MPI_Wait", {{"request", 2}, {"status", got(n == 2 ? 24 : 16, 0, 1)}});  // 2 4 6
  }
  ranks[1].recv(9, kInt, 0, 2, kWorld, got(20, 0, 2));  // 7
  make(ranks);
  EXPECT_EQ(messages(), (std::vector<Pair>{{0, 2, 1, 2, 16}, {0, 2, 1, 7, 20}, {0, 4, 1, 4, 16}, {0, 8, 1, 6, 24}}));
  EXPECT_EQ(count(0, EventKind::complete), 4U);
}

// Without times the order of records decides: that of the start, not that of the call that made the request.
TEST_F(DumpiMessages, APersistentRequestSendsWhenItIsStartedAlsoWithoutTimes) {
  std::vector<TraceMaker> ranks(2);
  for (TraceMaker& rank : ranks) rank.mask(kMaskStatus | kMaskThread);
  ranks[0].send("MPI_Send_init", 1, kInt, 1, 7, kWorld, 2);  // 0
  ranks[0].send("MPI_Send", 2, kInt, 1, 7, kWorld);          // 1
  ranks[0].call("MPI_Start", {{"request", 2}});              // 2
  ranks[0].call("MPI_Wait", {{"request", 2}});               // 3
  ranks[1].recv(9, kInt, 0, 7, kWorld, got(8, 0, 7));        // 0
  ranks[1].recv(9, kInt, 0, 7, kWorld, got(4, 0, 7));        // 1
  make(ranks);
  EXPECT_EQ(messages(), (std::vector<Pair>{{0, 1, 1, 0, 8}, {0, 2, 1, 1, 4}}));
}

TEST_F(DumpiMessages, SomeAndAnyWithNothingActive) {
  std::vector<TraceMaker> ranks(2);
  for (int n = 0; n < 3; ++n) ranks[0].send("MPI_Send", 1, kInt, 1, n, kWorld);
  for (int n = 0; n < 3; ++n) ranks[1].irecv(1, kInt, 0, n, kWorld, 2 + n);  // 0 1 2
  // Nothing is over yet.
  ranks[1].call("MPI_Testany", {{"requests", list({2, 3, 4})}, {"index", kUndefined}, {"flag", 0}});  // 3
  ranks[1].call("MPI_Testsome", {{"requests", list({2, 3, 4})}, {"outcount", 0}});                    // 4
  ranks[1].call("MPI_Testall", {{"requests", list({2, 3, 4})}, {"flag", 0}});                         // 5
  ranks[1].call("MPI_Waitsome", {{"requests", list({2, 3, 4})},
                                 {"indices", list({2, 0})},
                                 {"statuses", statuses({{4, 0, 2, 0, 0}, {4, 0, 0, 0, 0}})}});  // 6
  // All but one are null now.
  ranks[1].call("MPI_Testany",
                {{"requests", list({1, 3, 1})}, {"index", 1}, {"flag", 1}, {"status", got(4, 0, 1)}});  // 7
  ranks[1].call("MPI_Testsome", {{"requests", list({1, 1, 1})}, {"outcount", kUndefined}});             // 8
  ranks[1].call("MPI_Waitany", {{"requests", list({1, 1})}, {"index", kUndefined}});                    // 9
  make(ranks);
  EXPECT_EQ(messages(), (std::vector<Pair>{{0, 0, 1, 6, 4}, {0, 1, 1, 7, 4}, {0, 2, 1, 6, 4}}));
}

TEST_F(DumpiMessages, SharedHandlesOfSendsThatWereOverAtOnce) {
  std::vector<TraceMaker> ranks(2);
  for (int n = 0; n < 3; ++n) ranks[0].send("MPI_Isend", 1 + n, kInt, 1, 0, kWorld, 6);  // 0 1 2, one id
  ranks[0].irecv(1, kInt, kAny, 0, kWorld, 6);                                           // 3: from nobody
  ranks[0].call("MPI_Waitall", {{"requests", list({6, 6, 6, 6})}});                      // 4
  for (int n = 0; n < 3; ++n) ranks[1].recv(9, kInt, 0, 0, kWorld, got(4 + 4 * n, 0, 0));
  make(ranks);
  EXPECT_EQ(messages(), (std::vector<Pair>{{0, 0, 1, 0, 4}, {0, 1, 1, 1, 8}, {0, 2, 1, 2, 12}}));
  const auto seen = events(0);
  std::vector<std::int64_t> origins;
  for (const Seen& one : seen) {
    if (one.kind == EventKind::complete) origins.push_back(one.origin);
  }
  EXPECT_EQ(origins, (std::vector<std::int64_t>{0, 1, 2, 3}));
}

// Three sends are under way at any time, for thousands of them: the queue of the shared id never runs empty.
TEST_F(DumpiMessages, AHandleThatIsAlwaysInUse) {
  constexpr int kSends = 5000;
  std::vector<TraceMaker> ranks(2);
  std::vector<std::int64_t> records;
  std::int64_t record = 0;
  for (int n = 0; n < kSends + 3; ++n) {
    if (n >= 3) {
      ranks[0].call("MPI_Wait", {{"request", 6}});
      ++record;
    }
    if (n >= kSends) continue;
    ranks[0].send("MPI_Isend", 1, kInt, 1, 0, kWorld, 6);
    records.push_back(record++);
    ranks[1].recv(1, kInt, 0, 0, kWorld, got(4, 0, 0));
  }
  make(ranks);
  EXPECT_EQ(messages().size(), static_cast<std::size_t>(kSends));
  std::vector<std::int64_t> origins;
  for (const Seen& one : events(0)) {
    if (one.kind == EventKind::complete) origins.push_back(one.origin);
  }
  EXPECT_EQ(origins, records);
}

TEST_F(DumpiMessages, CancelledOperationsMoveNothing) {
  std::vector<TraceMaker> ranks(2);
  ranks[0].send("MPI_Isend", 1, kInt, 1, 5, kWorld, 2);                                  // 0
  ranks[0].call("MPI_Cancel", {{"request", 2}});                                         // 1
  ranks[0].call("MPI_Wait", {{"request", 2}, {"status", statuses({{0, 0, 0, 1, 0}})}});  // 2: cancelled
  ranks[0].send("MPI_Isend", 2, kInt, 1, 5, kWorld, 2);                                  // 3
  ranks[0].call("MPI_Cancel", {{"request", 2}});                                         // 4
  ranks[0].call("MPI_Wait", {{"request", 2}, {"status", statuses({{0, 0, 0, 0, 0}})}});  // 5: too late
  ranks[0].send("MPI_Isend", 3, kInt, 1, 5, kWorld, 2);                                  // 6
  // Nobody cancelled this one, whatever its status holds.
  ranks[0].call("MPI_Wait", {{"request", 2}, {"status", statuses({{-32766, 77, -5, 1, 0}})}});  // 7
  ranks[1].irecv(1, kInt, 0, 5, kWorld, 2);                                                     // 0
  ranks[1].call("MPI_Cancel", {{"request", 2}});                                                // 1
  ranks[1].call("MPI_Wait", {{"request", 2}, {"status", statuses({{0, -1, -1, 1, 0}})}});       // 2
  ranks[1].recv(9, kInt, 0, 5, kWorld, got(8, 0, 5));                                           // 3
  ranks[1].recv(9, kInt, 0, 5, kWorld, got(12, 0, 5));                                          // 4
  ranks[1].irecv(1, kInt, 0, 5, kWorld, 2);                                                     // 5
  ranks[1].call("MPI_Cancel", {{"request", 2}});                                                // 6
  ranks[1].call("MPI_Wait", {{"request", 2}});                                                  // 7: no status
  make(ranks);
  EXPECT_EQ(messages(), (std::vector<Pair>{{0, 3, 1, 3, 8}, {0, 6, 1, 4, 12}}));
  EXPECT_EQ(count(0, EventKind::send), 2U);
  EXPECT_EQ(count(1, EventKind::recv), 2U);
  EXPECT_EQ(count(1, EventKind::complete), 2U);
}

TEST_F(DumpiMessages, CommunicatorsKeepMessagesApart) {
  std::vector<TraceMaker> ranks(2);
  for (auto& rank : ranks) rank.call("MPI_Comm_dup", {{"oldcomm", kWorld}, {"newcomm", 4}});
  ranks[0].send("MPI_Send", 1, kInt, 1, 0, kWorld);  // 1
  ranks[0].send("MPI_Send", 2, kInt, 1, 0, 4);       // 2
  ranks[1].recv(9, kInt, 0, 0, 4, got(8, 0, 0));     // 1
  ranks[1].recv(9, kInt, 0, 0, kWorld, got(4, 0, 0));
  make(ranks);
  EXPECT_EQ(messages(), (std::vector<Pair>{{0, 1, 1, 2, 4}, {0, 2, 1, 1, 8}}));
}

TEST_F(DumpiMessages, OldFilesKeepEightBitsOfRequestIds) {
  std::vector<TraceMaker> ranks;
  for (int r = 0; r < 2; ++r) ranks.emplace_back(std::array<std::uint8_t, 3>{0, 6, 6});
  ranks[0].send("MPI_Isend", 1, kInt, 1, 0, kWorld, 0x1205);
  ranks[0].call("MPI_Wait", {{"request", 0x7705}});
  ranks[1].irecv(1, kInt, 0, 0, kWorld, 0x0103);
  ranks[1].call("MPI_Waitall", {{"requests", list({0x0903})}, {"statuses", statuses({{4, 0, 0, 0, 0}})}});
  make(ranks);
  EXPECT_EQ(messages(), (std::vector<Pair>{{0, 0, 1, 1, 4}}));
  EXPECT_EQ(count(0, EventKind::complete), 1U);

  // Later versions tell them apart.
  ranks.clear();
  for (int r = 0; r < 2; ++r) ranks.emplace_back(std::array<std::uint8_t, 3>{0, 6, 7});
  ranks[0].send("MPI_Isend", 1, kInt, 1, 0, kWorld, 0x1205);
  ranks[0].call("MPI_Wait", {{"request", 0x7705}});
  make(ranks);
  EXPECT_EQ(count(0, EventKind::complete), 0U);
}

// A receive that one thread posts and another one waits for; requests that another thread made.
TEST_F(DumpiMessages, ThreadsShareRequests) {
  std::vector<TraceMaker> ranks(2);
  ranks[0].send("MPI_Send", 1, kInt, 1, 0, kWorld);
  ranks[1].thread(0).irecv(1, kInt, 0, 0, kWorld, 2);
  ranks[1].thread(3).call("MPI_Barrier", {{"comm", kWorld}});
  ranks[1].thread(3).call("MPI_Wait", {{"request", 2}, {"status", got(4, 0, 0)}});
  ranks[1].thread(0).call("MPI_Barrier", {{"comm", kWorld}});
  make(ranks);
  ASSERT_EQ(trace_->location_count(), 3U);
  EXPECT_EQ(trace_->definitions().system.location_label(LocationId(2)), "1.3");
  EXPECT_EQ(messages(), (std::vector<Pair>{{0, 0, 1, 2, 4}}));
  EXPECT_EQ(count(1, EventKind::recv), 0U);
  EXPECT_EQ(count(2, EventKind::recv), 1U);
  // Each thread's own calls, no others.
  std::vector<std::uint64_t> records;
  for (const Seen& seen : events(1, {}, true)) {
    if (seen.kind == EventKind::enter) records.push_back(seen.record);
  }
  EXPECT_EQ(records, (std::vector<std::uint64_t>{0, 3}));
}

// Thread 2 has waited, the library gives its handle to thread 1, and only then the record of the wait is written.
TEST_F(DumpiMessages, AHandleComesBackBeforeTheRecordOfItsCompletion) {
  std::vector<TraceMaker> ranks(2);
  for (int n = 0; n < 3; ++n) ranks[0].send("MPI_Send", 1 + n, kInt, 1, n, kWorld);
  ranks[1].thread(2).irecv(1, kInt, 0, 0, kWorld, 4);                                // 0
  ranks[1].thread(1).irecv(2, kInt, 0, 1, kWorld, 4);                                // 1
  ranks[1].thread(2).call("MPI_Waitall", {{"requests", list({4})}});                 // 2
  ranks[1].thread(2).irecv(3, kInt, kAny, 2, kWorld, 4);                             // 3
  ranks[1].thread(1).call("MPI_Wait", {{"request", 4}});                             // 4
  ranks[1].thread(1).call("MPI_Wait", {{"request", 4}, {"status", got(12, 0, 2)}});  // 5: of the other thread
  make(ranks);
  EXPECT_EQ(messages(), (std::vector<Pair>{{0, 0, 1, 2, 4}, {0, 1, 1, 4, 8}, {0, 2, 1, 5, 12}}));
}

TEST_F(DumpiMessages, MessagesOverAnInterCommunicator) {
  std::vector<TraceMaker> ranks(3);
  for (int r = 0; r < 3; ++r) {
    auto& rank = ranks[static_cast<std::size_t>(r)];
    rank.call("MPI_Comm_split", {{"oldcomm", kWorld}, {"color", r == 0 ? 0 : 1}, {"key", -r}, {"newcomm", 4}});
    rank.call("MPI_Intercomm_create", {{"localcomm", 4},
                                       {"localleader", 0},
                                       {"remotecomm", kWorld},
                                       {"remoteleader", r == 0 ? 2 : 0},
                                       {"newcomm", 5}});
  }
  // Rank 1 of the other side is rank 1 of the run: keys turned the order around.
  ranks[0].send("MPI_Send", 1, kInt, 1, 0, 5);
  ranks[1].recv(1, kInt, 0, 0, 5, got(4, 0, 0));
  ranks[2].send("MPI_Send", 2, kInt, 0, 0, 5);
  ranks[0].recv(2, kInt, kAny, 0, 5, got(8, 0, 0));
  make(ranks);
  EXPECT_EQ(messages(), (std::vector<Pair>{{0, 2, 1, 2, 4}, {2, 2, 0, 3, 8}}));
}

TEST_F(DumpiMessages, CompletionsOfOtherRequests) {
  std::vector<TraceMaker> ranks(1);
  ranks[0].call("MPI_Grequest_start", {{"request", 2}});                                              // 0
  ranks[0].call("MPI_Grequest_complete", {{"request", 2}});                                           // 1
  ranks[0].call("MPI_Wait", {{"request", 2}});                                                        // 2
  ranks[0].call("MPI_File_iwrite", {{"file", 1}, {"count", 3}, {"datatype", kInt}, {"request", 2}});  // 3
  ranks[0].call("MPIO_Waitall", {{"requests", list({2})}});                                           // 4
  ranks[0].call("MPI_Wait", {{"request", 9}});                                                        // 5: never made
  make(ranks);
  const auto seen = events(0);
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].origin, 0);
  EXPECT_EQ(seen[0].record, 2U);
  EXPECT_EQ(seen[1].origin, 3);
  EXPECT_EQ(seen[1].bytes, 12);
}

// A window must show what the whole trace shows there, also of requests that were begun long before it.
TEST_F(DumpiMessages, WindowsEqualTheSamePartOfTheWhole) {
  std::vector<TraceMaker> ranks(2);
  constexpr std::int64_t kSecond = 1'000'000'000;
  // Some chunks' worth of calls, 1 ms apart; a receive is pending all the time.
  ranks[1].at(0).irecv(1, kInt, 0, 99, kWorld, 9);
  for (int n = 0; n < 40'000; ++n) {
    const std::int64_t at = (n + 1) * kSecond / 1000;
    ranks[0]
        .thread(static_cast<std::uint16_t>(n % 2))
        .at(at)
        .send("MPI_Send", 1, kInt, 1, n % 100 == 99 ? 98 : n % 100, kWorld);
    ranks[1].at(at).irecv(1, kInt, 0, n % 100 == 99 ? 98 : n % 100, kWorld, 2);
    ranks[1].call("MPI_Wait", {{"request", 2}, {"status", got(4, 0, n % 100 == 99 ? 98 : n % 100)}});
    if (n == 30'000) {
      ranks[0].send("MPI_Send", 1, kInt, 1, 99, kWorld);
      ranks[1].call("MPI_Wait", {{"request", 9}, {"status", got(4, 0, 99)}});
    }
  }
  make(ranks);
  const std::int64_t bias = kWallBias * kSecond;
  for (const TimeWindow window :
       {TimeWindow{bias + 30 * kSecond, bias + 31 * kSecond}, TimeWindow{bias + 12'345'000'050, bias + 12'345'001'000},
        TimeWindow{bias - 5, bias + 3}, TimeWindow{bias + 39 * kSecond, bias + 100 * kSecond},
        TimeWindow{bias + 100 * kSecond, bias + 101 * kSecond}}) {
    for (std::size_t location = 0; location < trace_->location_count(); ++location) {
      auto all = trace_->open(LocationId(location), {});
      auto part = trace_->open(LocationId(location), window);
      ASSERT_TRUE(all.ok() && part.ok());
      // With the calls that are under way where the window begins.
      const auto expected = test::cut_out(test::read_all(**all), window);
      const auto got = test::read_all(**part);
      ASSERT_EQ(got.size(), expected.size()) << location << " from " << window.from_ns;
      const std::size_t e = test::first_difference(got, expected);
      ASSERT_EQ(e, got.size()) << test::text_of(got[e]) << " instead of " << test::text_of(expected[e]);
    }
  }
  const auto span = trace_->known_span();
  ASSERT_TRUE(span.has_value());
  EXPECT_EQ(span->from_ns, bias);
  EXPECT_EQ(span->to_ns, bias + 40 * kSecond + 1200);
}

// The table of calls is what says where arguments are; PointToPoint relies on it.
TEST(DumpiPointToPoint, SendsAndReceivesBeginAlike) {
  constexpr std::array kBegin = {Type::i32, Type::datatype, Type::dest, Type::tag, Type::comm, Type::request};
  std::size_t calls = 0;
  for (const Function& function : functions()) {
    const Role role = role_of(function.id);
    if (role != Role::send && role != Role::recv && role != Role::send_init && role != Role::recv_init) continue;
    std::size_t offset = 0;
    const std::size_t count = touches_requests(function.id) ? 6 : 5;
    ASSERT_GE(function.argument_count, count) << function.name;
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(function.argument[i].shape, Shape::scalar) << function.name;
      EXPECT_EQ(function.argument[i].only_if, -1) << function.name;
      EXPECT_EQ(wire_size(function.argument[i].type), wire_size(kBegin[i])) << function.name << " argument " << i;
      if (i == 5) {
        EXPECT_EQ(offset, PointToPoint::kRequestAt) << function.name;
      }
      offset += wire_size(function.argument[i].type);
    }
    ++calls;
  }
  EXPECT_EQ(calls, 15U);  // Send, Bsend, Ssend, Rsend, Recv; the same with I, and persistent
}

}  // namespace
}  // namespace fathom::dumpi
