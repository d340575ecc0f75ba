#include "trace/slice_view.hpp"

#include <gtest/gtest.h>

#include "made_trace.hpp"

namespace fathom {
namespace {

struct Flows final : SliceSink {
  void begin(std::uint32_t, std::int64_t, std::string_view, const Event&) override {}
  void end(std::uint32_t, std::int64_t, std::string_view) override {}
  void instant(std::int64_t, std::string_view, const Event&) override {}
  void counter(std::int64_t, const Event&) override {}
  void message(std::int64_t time, const Event&, std::uint64_t flow) override { flows[time] = flow; }
  std::map<std::int64_t, std::uint64_t> flows;  // by time
};

// MPI matches receives in the order in which they were posted: what was waited for first may be the later message.
TEST(SliceView, ArrowsFollowTheOrderOfPosting) {
  test::MadeTrace trace(2);
  const auto message = [&](EventKind kind, std::int64_t time, std::size_t location, std::int32_t peer) -> Event& {
    Event& event = trace.add(kind, time, Event::kNoName, location);
    event.peer = peer;
    event.tag = 7;
    event.communicator = CommunicatorId(0);
    return event;
  };
  message(EventKind::recv, 20, 0, 1).origin = 1;  // posted second
  message(EventKind::recv, 30, 0, 1).origin = 0;
  message(EventKind::recv, 40, 0, 1).origin = Event::kNoRecord;  // a blocking one
  for (const std::int64_t time : {10, 11, 12}) message(EventKind::send, time, 1, 0);
  SliceView view(trace);
  Flows flows;
  for (std::uint32_t location : {0U, 1U}) ASSERT_TRUE(view.write(LocationId(location), {}, flows).ok());
  ASSERT_EQ(flows.flows.size(), 6U);
  EXPECT_EQ(flows.flows[10], flows.flows[30]);
  EXPECT_EQ(flows.flows[11], flows.flows[20]);
  EXPECT_EQ(flows.flows[12], flows.flows[40]);
  EXPECT_NE(flows.flows[10], flows.flows[11]);
}

// Numbers are those of the whole trace.
TEST(SliceView, WindowsHaveTheArrowsOfTheWhole) {
  test::MadeTrace trace(2);
  for (const std::int64_t time : {10, 20}) {
    Event& sent = trace.add(EventKind::send, time, Event::kNoName, 0);
    sent.peer = 1;
    Event& received = trace.add(EventKind::recv, time + 5, Event::kNoName, 1);
    received.peer = 0;
  }
  SliceView view(trace);
  Flows flows;
  const TimeWindow window{12, 30};
  for (std::uint32_t location : {0U, 1U}) ASSERT_TRUE(view.write(LocationId(location), window, flows).ok());
  ASSERT_EQ(flows.flows.size(), 3U);
  EXPECT_EQ(flows.flows[20], flows.flows[25]);
  EXPECT_NE(flows.flows[20], flows.flows[15]);
}

}  // namespace
}  // namespace fathom
