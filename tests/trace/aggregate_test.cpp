#include "trace/aggregate.hpp"

#include <gtest/gtest.h>

#include "base/execution.hpp"
#include "base/parallel.hpp"
#include "table_rows.hpp"

namespace fathom {
namespace {

constexpr std::uint32_t kMain = 0, kSend = 1;

// Two ranks: main [0, 100) calls send [20, 50) twice in a row, a channel that is 7 in [10, 60), a counter.
class MadeTrace : public Trace {
 public:
  MadeTrace() {
    for (const char* name : {"main", "MPI_Send"}) {
      Region region;
      region.name = name;
      definitions_.regions.push_back(region);
    }
    Metric metric;
    metric.name = "flops";
    metric.type.kind = ValueKind::i64;
    definitions_.metrics.push_back(metric);
    channels_.push_back({"mode", "Mode", false, {{7, "busy"}}});
    for (int rank = 0; rank < 2; ++rank) {
      SystemNode process;
      process.kind = SystemKind::group;
      process.rank = rank;
      const SystemNodeId group = definitions_.system.add(std::move(process));
      SystemNode thread;
      thread.kind = SystemKind::location;
      thread.parent = group;
      thread.file_id = static_cast<std::uint64_t>(rank);
      definitions_.system.add_location(std::move(thread));
    }
  }
  Result<std::unique_ptr<EventStream>> open(LocationId location, TimeWindow window) const override {
    struct Stream : EventStream {
      std::vector<Event> events;
      std::size_t at = 0;
      Result<std::size_t> next(std::span<Event> out) override {
        std::size_t count = 0;
        while (count < out.size() && at < events.size()) out[count++] = events[at++];
        return count;
      }
    };
    auto stream = std::make_unique<Stream>();
    const auto add = [&](std::int64_t time, EventKind kind, std::uint32_t name, std::int64_t value = 0) -> Event& {
      Event event;
      event.time_ns = time;
      event.kind = kind;
      event.name = name;
      event.value = value;
      event.location = location;
      return stream->events.emplace_back(event);
    };
    add(0, EventKind::enter, kMain);
    add(10, EventKind::state, 0, 7);
    add(15, EventKind::counter, 0, 5);
    for (const std::int64_t start : {20, 35}) {
      add(start, EventKind::enter, kSend);
      Event& send = add(start, EventKind::send, kSend);
      send.peer = location.value == 0 ? 1 : 0;
      send.bytes = 100;
      add(start + 15, EventKind::leave, kSend);
    }
    add(60, EventKind::state, 0).has_value = false;
    add(70, EventKind::counter, 0, 9);
    add(100, EventKind::leave, kMain);
    // What is in effect where the window begins comes first.
    std::vector<Event> cut;
    bool in_main = false;
    for (Event event : stream->events) {
      if (event.time_ns < window.from_ns) {
        event.carried = true;
        if (event.kind == EventKind::enter && event.name == kMain) in_main = true;
        const bool open_state = event.kind == EventKind::state && event.has_value && window.from_ns < 60;
        if ((event.kind == EventKind::enter && event.name == kMain) || open_state) cut.push_back(event);
      } else if (event.time_ns < window.to_ns) {
        cut.push_back(event);
      }
    }
    EXPECT_TRUE(in_main || window.from_ns <= 0);
    stream->events = std::move(cut);
    return std::unique_ptr<EventStream>(std::move(stream));
  }
};

TEST(Aggregate, TimesAreExclusiveAndMessagesHaveTwoEnds) {
  const MadeTrace trace;
  for (const unsigned threads : {1U, 2U, 8U}) {
    const Execution execution(threads);
    const ExecutionScope scope(execution);
    const auto statistics = trace_statistics(trace, {});
    ASSERT_TRUE(statistics.ok());
    ASSERT_EQ(statistics->calls.size(), 2U);
    const CallStatistics& send = statistics->calls[0];
    EXPECT_EQ(send.name, "MPI_Send");
    EXPECT_EQ(send.count, 4U);
    EXPECT_DOUBLE_EQ(*send.wall_s, 60e-9);
    EXPECT_EQ(send.sent, 400);
    const CallStatistics& main = statistics->calls[1];
    EXPECT_EQ(main.count, 2U);
    EXPECT_DOUBLE_EQ(*main.wall_s, 140e-9);
    EXPECT_FALSE(main.bytes.has_value());
    ASSERT_EQ(statistics->matrix.size(), 2U);
    EXPECT_EQ(statistics->matrix[1].src, 1);
    EXPECT_EQ(statistics->matrix[1].dst, 0);
    EXPECT_EQ(statistics->matrix[1].messages, 2U);
    EXPECT_EQ(statistics->matrix[1].bytes, 200);
    ASSERT_EQ(statistics->tables.size(), 1U);
    EXPECT_EQ(table_rows(statistics->tables[0]),
              (std::vector<std::vector<std::string>>{{"mode", "7", "busy", "2", "0.000000100"}}));
  }
}

TEST(Aggregate, AWindowCountsWhatIsInEffectFromItsBeginning) {
  const MadeTrace trace;
  StatisticsOptions options;
  options.from_ns = 30;
  options.to_ns = 60;
  options.locations = {"0"};
  options.by = {"state", "location"};
  const auto statistics = trace_statistics(trace, options);
  ASSERT_TRUE(statistics.ok());
  // The second send is inside; the one before it is not known any more. The last event of the window is at 50.
  ASSERT_EQ(statistics->calls.size(), 2U);
  EXPECT_EQ(statistics->calls[0].count, 1U);
  EXPECT_DOUBLE_EQ(*statistics->calls[0].wall_s, 15e-9);
  EXPECT_EQ(statistics->calls[1].count, 0U);  // main was entered before
  ASSERT_EQ(statistics->tables.size(), 2U);
  EXPECT_EQ(exact_cell(statistics->tables[0].column("count"), 0), "0");
  EXPECT_EQ(table_rows(statistics->tables[1]).size(), 2U);
}

TEST(Aggregate, CountersAndKinds) {
  const MadeTrace trace;
  StatisticsOptions options;
  options.by = {"counter", "kind"};
  const auto statistics = trace_statistics(trace, options);
  ASSERT_TRUE(statistics.ok());
  ASSERT_EQ(statistics->tables.size(), 2U);
  EXPECT_EQ(table_rows(statistics->tables[0]), (std::vector<std::vector<std::string>>{{"flops", "4", "5", "7", "9"}}));
  EXPECT_EQ(table_rows(statistics->tables[1]),
            (std::vector<std::vector<std::string>>{
                {"enter", "6"}, {"leave", "6"}, {"send", "4"}, {"state", "4"}, {"counter", "4"}}));
  options.by = {"colour"};
  EXPECT_FALSE(trace_statistics(trace, options).ok());
}

}  // namespace
}  // namespace fathom
