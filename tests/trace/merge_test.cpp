#include "trace/merge.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace fathom {
namespace {

// Locations with events given in memory.
class FakeTrace : public Trace {
 public:
  explicit FakeTrace(std::vector<std::vector<Event>> events) : events_(std::move(events)) {
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

TEST(Messages, MatchInPostingOrderPerTagAndCommunicator) {
  const auto half = [](EventKind kind, std::int64_t time, std::int32_t peer, std::int32_t tag, std::uint64_t record,
                       std::uint64_t origin) {
    Event event = at(time);
    event.kind = kind;
    event.peer = peer;
    event.tag = tag;
    event.record = record;
    event.origin = origin;
    return event;
  };
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

}  // namespace
}  // namespace fathom
