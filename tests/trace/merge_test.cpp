#include "trace/merge.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

namespace fathom {
namespace {

// Locations with events given in memory.
class FakeTrace : public Trace {
 public:
  explicit FakeTrace(std::vector<std::vector<Event>> events, Work work = nullptr) : events_(std::move(events)) {
    work_ = std::move(work);
    for (std::size_t i = 0; i < events_.size(); ++i) {
      SystemNode process;
      process.kind = SystemKind::group;
      process.rank = static_cast<std::int64_t>(i);
      SystemNode node;
      node.kind = SystemKind::location;
      node.parent = definitions_.system.add(std::move(process));
      definitions_.system.add_location(std::move(node));
      for (Event& event : events_[i]) event.location = LocationId(i);
    }
  }
  Result<std::unique_ptr<EventStream>> open(LocationId location, TimeWindow window) const override {
    struct Stream : EventStream {
      const std::vector<Event>* events;
      TimeWindow window;
      std::size_t at = 0;
      Result<std::size_t> next(std::span<Event> out) override {
        std::size_t count = 0;
        while (count < out.size() && at < events->size()) {
          const Event& event = (*events)[at++];
          if (window.contains(event)) out[count++] = event;
        }
        return count;
      }
    };
    auto stream = std::make_unique<Stream>();
    stream->events = &events_[location.index()];
    stream->window = window;
    return std::unique_ptr<EventStream>(std::move(stream));
  }

 private:
  std::vector<std::vector<Event>> events_;
};

Event at(std::int64_t time) {
  Event event;
  event.time_ns = time;
  return event;
}

TEST(MergedEvents, EqualsSortingForAnyNumberOfLocations) {
  std::mt19937 random(7);
  for (std::size_t locations = 0; locations < 20; ++locations) {
    std::vector<std::vector<Event>> events(locations);
    std::vector<std::pair<std::int64_t, std::size_t>> expected;
    for (std::size_t i = 0; i < locations; ++i) {
      std::int64_t time = 0;
      for (std::size_t n = random() % 700; n > 0; --n) {
        time += static_cast<std::int64_t>(random() % 3);
        events[i].push_back(at(time));
        expected.emplace_back(time, i);
      }
    }
    std::stable_sort(expected.begin(), expected.end());
    const FakeTrace trace(std::move(events));
    auto merged = MergedEvents::over(trace);
    ASSERT_TRUE(merged.ok());
    std::vector<std::pair<std::int64_t, std::size_t>> got;
    while (const Event* event = merged->next()) got.emplace_back(event->time_ns, event->location.index());
    EXPECT_EQ(got, expected) << locations << " locations";
  }
}

TEST(MergedEvents, WindowAndChoiceOfLocations) {
  const FakeTrace trace({{at(1), at(5), at(9)}, {at(2)}, {at(4), at(8)}});
  const std::vector<LocationId> chosen = {LocationId(0), LocationId(2)};
  auto merged = MergedEvents::over(trace, chosen, {2, 9});
  ASSERT_TRUE(merged.ok());
  std::vector<std::int64_t> times;
  while (const Event* event = merged->next()) times.push_back(event->time_ns);
  EXPECT_EQ(times, (std::vector<std::int64_t>{4, 5, 8}));
}

Event half(EventKind kind, std::int64_t time, std::int32_t peer, std::int32_t tag, std::uint64_t record,
           std::uint64_t origin) {
  Event event = at(time);
  event.kind = kind;
  event.peer = peer;
  event.tag = tag;
  event.record = record;
  event.origin = origin;
  return event;
}

TEST(Messages, MatchInPostingOrderPerTagAndCommunicator) {
  // Two receives of the same tag complete in the opposite order of their posting; a third has another tag.
  const FakeTrace trace({{half(EventKind::send, 10, 1, 7, 0, 0), half(EventKind::send, 20, 1, 7, 1, 1),
                          half(EventKind::send, 30, 1, 8, 2, 2), half(EventKind::send, 40, -1, 8, 3, 3)},
                         {half(EventKind::recv, 50, 0, 7, 5, 1), half(EventKind::recv, 60, 0, 7, 6, 0),
                          half(EventKind::recv, 70, 0, 8, 7, 2), half(EventKind::recv, 80, 0, 9, 8, 3)}});
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  ASSERT_TRUE(trace
                  .messages({},
                            [&](const Message& message) {
                              pairs.emplace_back(*message.sent_ns, *message.received_ns);
                              return true;
                            })
                  .ok());
  std::sort(pairs.begin(), pairs.end());
  EXPECT_EQ(pairs, (std::vector<std::pair<std::int64_t, std::int64_t>>{{10, 60}, {20, 50}, {30, 70}}));
}

// Each rank sends to all others; receives complete in another order than they were posted in. Some hundred thousand
// ends do not fit into the least budget, but the messages are the same as with any other.
TEST(Messages, AreTheSameWithLittleMemory) {
  constexpr std::int32_t kRanks = 5;
  constexpr std::uint64_t kEach = 6'000;
  std::vector<std::vector<Event>> events(kRanks);
  for (std::int32_t rank = 0; rank < kRanks; ++rank) {
    std::int64_t now = 0;
    std::uint64_t record = 0;
    for (std::uint64_t n = 0; n < kEach; ++n) {
      for (std::int32_t peer = 0; peer < kRanks; ++peer) {
        const auto tag = static_cast<std::int32_t>(n % 3);
        Event send = half(EventKind::send, ++now, peer, tag, record, record);
        send.bytes = static_cast<std::int64_t>(n);
        events[static_cast<std::size_t>(rank)].push_back(send);
        ++record;
      }
    }
    // Posted 2k and 2k+1, completed the other way round.
    for (std::uint64_t n = 0; n < kEach; ++n) {
      for (std::int32_t peer = 0; peer < kRanks; ++peer) {
        const std::uint64_t posted = n ^ 1U;
        Event recv = half(EventKind::recv, ++now, peer, static_cast<std::int32_t>(posted % 3), record++, posted);
        recv.bytes = static_cast<std::int64_t>(posted);
        events[static_cast<std::size_t>(rank)].push_back(recv);
      }
    }
  }
  const auto matched = [&](std::uint64_t memory) {
    const FakeTrace trace(events, make_work(false, memory));
    std::vector<std::array<std::int64_t, 6>> found;
    const auto status = trace.messages({}, [&](const Message& message) {
      found.push_back(
          {message.to_rank, message.from_rank, message.tag, message.bytes, *message.sent_ns, *message.received_ns});
      return true;
    });
    EXPECT_TRUE(status.ok());
    return found;
  };
  const auto little = matched(std::uint64_t{4} << 20);
  const auto much = matched(std::uint64_t{4} << 30);
  ASSERT_EQ(little.size(), kRanks * kRanks * kEach);
  EXPECT_TRUE(little == much);
  // By receiver, sender, tag, and then in the order in which they were sent.
  EXPECT_TRUE(std::is_sorted(little.begin(), little.end()));
  // Too little for anything is an error, not a crash.
  const FakeTrace trace(events, make_work(false, 1000));
  const auto refused = trace.messages({}, [](const Message&) { return true; });
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().hint().find("--max-memory"), std::string::npos);
}

TEST(Messages, WhatFindsNoPartnerIsNoted) {
  const Work work = make_work();
  const FakeTrace trace({{half(EventKind::send, 10, 1, 7, 0, 0), half(EventKind::send, 20, 1, 7, 1, 1)},
                         {half(EventKind::recv, 50, 0, 7, 5, 1), half(EventKind::recv, 60, 0, 3, 6, 2),
                          half(EventKind::recv, 70, kUnknownPeer, 8, 7, 3)}},
                        work);
  ASSERT_TRUE(trace.messages({}, [](const Message&) { return true; }).ok());
  std::vector<std::pair<std::string, std::uint64_t>> noted;
  for (const Diagnostic& one : work->diagnostics.all()) noted.emplace_back(one.id, one.count);
  EXPECT_EQ(noted, (std::vector<std::pair<std::string, std::uint64_t>>{
                       {"trace.unmatched_send", 1}, {"trace.unmatched_receive", 1}, {"trace.unknown_peer", 1}}));
  EXPECT_FALSE(work->diagnostics.defective());
}

}  // namespace
}  // namespace fathom
