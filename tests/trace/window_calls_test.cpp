// What a window holds, against sums worked out by hand and against the same trace reduced to a profile.
#include "trace/window_calls.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "made_tasks.hpp"
#include "profile/compute.hpp"
#include "profile/reduce/reduce.hpp"
#include "trace/summary/counter_store.hpp"
#include "trace/summary/message_store.hpp"

namespace fathom {
namespace {

std::map<std::string, WindowCalls> by_name(const std::vector<WindowCalls>& calls) {
  std::map<std::string, WindowCalls> out;
  for (const WindowCalls& call : calls) out[call.name] = call;
  return out;
}

// main [0, 100) calls work [10, 30) and [40, 90), which calls itself [50, 60).
test::MadeTrace nested() {
  test::MadeTrace trace(1);
  const std::uint32_t main = trace.region("main");
  const std::uint32_t work = trace.region("work");
  trace.add(EventKind::enter, 0, main);
  trace.add(EventKind::enter, 10, work);
  trace.add(EventKind::leave, 30, work);
  trace.add(EventKind::enter, 40, work);
  trace.add(EventKind::enter, 50, work);
  trace.add(EventKind::leave, 60, work);
  trace.add(EventKind::leave, 90, work);
  trace.add(EventKind::leave, 100, main);
  return trace;
}

TEST(WindowCalls, TimeIsCutAtTheBordersAndCallsCountWhereTheyBegin) {
  const test::MadeTrace trace = nested();
  const auto found = by_name(window_calls(trace, {{20, 55}, {}, {}}).value());
  ASSERT_EQ(found.size(), 2U);
  // In [20, 55): work until 30, main until 40, work until 50, work inside of it until 55.
  EXPECT_EQ(found.at("main").own_ns, 10);
  EXPECT_EQ(found.at("main").total_ns, 35);
  EXPECT_EQ(found.at("main").calls, 0U);
  EXPECT_EQ(found.at("work").own_ns, 25);
  EXPECT_EQ(found.at("work").total_ns, 25);
  EXPECT_EQ(found.at("work").calls, 2U);
  // Both are cut at the end: 40 to 55 and 50 to 55.
  EXPECT_EQ(found.at("work").timed, 2U);
  EXPECT_EQ(found.at("work").shortest_ns, 5);
  EXPECT_EQ(found.at("work").longest_ns, 15);
  EXPECT_EQ(found.at("work").sum_ns, 20);
}

// Calls of different functions inside each other: to look above each for its own name, of each, would never end.
TEST(WindowCalls, DeepStacksTakeTimeByTheirDepth) {
  constexpr std::int64_t kDeep = 30'000;
  test::MadeTrace trace(1);
  for (std::int64_t i = 0; i < kDeep; ++i) {
    trace.add(EventKind::enter, i, trace.region("f" + std::to_string(i)));
  }
  for (std::int64_t i = kDeep; i-- > 0;) {
    trace.add(EventKind::leave, 2 * kDeep - i, static_cast<std::uint32_t>(i));
  }
  const auto found = by_name(window_calls(trace, {}).value());
  ASSERT_EQ(found.size(), static_cast<std::size_t>(kDeep));
  for (const std::int64_t i : {std::int64_t{0}, std::int64_t{1}, kDeep / 2, kDeep - 2}) {
    EXPECT_EQ(found.at("f" + std::to_string(i)).own_ns, 2) << i;
    EXPECT_EQ(found.at("f" + std::to_string(i)).total_ns, 2 * (kDeep - i)) << i;
  }
}

// Own time is that of the task that runs; a call of a task that waits goes on, so that its length is what has passed.
TEST(WindowCalls, TasksTakeTurns) {
  const test::MadeTrace trace = test::with_tasks();
  const auto whole = by_name(window_calls(trace, {}).value());
  EXPECT_EQ(whole.at("main").own_ns, 100 + 100 + 500);
  EXPECT_EQ(whole.at("first").own_ns, 50 + 50);
  EXPECT_EQ(whole.at("first").total_ns, 200);
  EXPECT_EQ(whole.at("inner").own_ns, 50 + 50);
  EXPECT_EQ(whole.at("second").own_ns, 100);
  EXPECT_EQ(whole.at("second").total_ns, 100);
  EXPECT_EQ(whole.at("first").longest_ns, 400);
  EXPECT_EQ(whole.at("inner").longest_ns, 300);
  EXPECT_EQ(whole.at("second").longest_ns, 100);
  EXPECT_EQ(whole.at("main").longest_ns, 1000);
  // A window that begins while the first one waits and ends before it is over.
  const auto part = by_name(window_calls(trace, {{250, 420}, {}, {}}).value());
  EXPECT_EQ(part.at("second").own_ns, 50);
  EXPECT_EQ(part.at("main").own_ns, 100);
  EXPECT_EQ(part.at("inner").own_ns, 20);
  EXPECT_EQ(part.at("first").total_ns, 20);
  EXPECT_EQ(part.at("first").own_ns, 0);
}

TEST(WindowCalls, DurationsAreListedLongestFirst) {
  const test::MadeTrace trace = nested();
  const Durations all = call_durations(trace, {}, "work", 0, 1000, 10).value();
  EXPECT_EQ(all.count, 3U);
  ASSERT_EQ(all.calls.size(), 3U);
  EXPECT_EQ(all.calls[0].length_ns, 50);
  EXPECT_EQ(all.calls[0].begin_ns, 40);
  EXPECT_EQ(all.calls[2].length_ns, 10);
  std::uint64_t sum = 0;
  for (const auto& bin : all.bins) sum += bin.count;
  EXPECT_EQ(sum, 3U);
  const Durations some = call_durations(trace, {}, "work", 15, 30, 10).value();
  EXPECT_EQ(some.count, 3U);
  ASSERT_EQ(some.calls.size(), 1U);
  EXPECT_EQ(some.calls[0].length_ns, 20);
  for (const std::int64_t length : {0L, 1L, 2L, 3L, 4L, 1000L, 1L << 40}) {
    const std::size_t bin = Durations::bin_of(length);
    EXPECT_LE(Durations::lower_ns(bin), static_cast<double>(length)) << length;
    EXPECT_GT(Durations::lower_ns(bin + 1), static_cast<double>(length)) << length;
  }
}

// Own times of a window are the exclusive times of the profile of that window, whatever the window.
TEST(WindowCalls, EqualTheProfileOfTheWindow) {
  for (std::uint32_t seed = 0; seed < 12; ++seed) {
    std::mt19937 random(seed);
    test::MadeTrace trace(3);
    for (const char* name : {"a", "b", "c", "d"}) trace.region(name, seed % 2 == 0 ? "user" : "mpi");
    std::int64_t last = 0;
    for (std::size_t l = 0; l < 3; ++l) {
      std::vector<std::uint32_t> open;
      std::int64_t time = static_cast<std::int64_t>(random() % 500);
      for (int i = 0; i < 400; ++i) {
        time += static_cast<std::int64_t>(random() % 20);
        if (open.size() < 6 && random() % 2 == 0) {
          open.push_back(random() % 4);
          trace.add(EventKind::enter, time, open.back(), l);
        } else if (!open.empty()) {
          trace.add(EventKind::leave, time, open.back(), l);
          open.pop_back();
        }
      }
      last = std::max(last, time);
    }
    const auto from = static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(last));
    const TimeWindow window{from, from + 1 + static_cast<std::int64_t>(random() % 1000)};
    ReduceOptions options;
    options.window = window;
    const ProfilePtr profile = reduce(trace, options, make_work()).value();
    const Definitions& defs = profile->defs();
    std::map<std::string, double> expected;
    std::map<std::string, double> visits;
    for (std::size_t m = 0; m < defs.metrics.size(); ++m) {
      if (defs.metrics[m].name != "time" && defs.metrics[m].name != "visits") continue;
      auto& into = defs.metrics[m].name == "time" ? expected : visits;
      Selection selection;
      selection.flavour.kind = Flavour::Kind::exclusive;
      selection.locations = all_locations(defs);
      selection.aggregate = true;
      for (std::size_t c = 0; c < defs.contexts.size(); ++c) {
        selection.contexts = {ContextId(c)};
        into[defs.region(defs.contexts[ContextId(c)].region).name] +=
            compute(*profile, MetricId(m), selection).value().scalar(0, 0);
      }
    }
    const auto found = by_name(window_calls(trace, {window, {}, {}}).value());
    for (const auto& [name, seconds] : expected) {
      const auto mine = found.find(name);
      EXPECT_NEAR(mine == found.end() ? 0.0 : static_cast<double>(mine->second.own_ns) * 1e-9, seconds, 1e-15)
          << seed << ' ' << name;
      if (name != "compute") {
        EXPECT_EQ(mine == found.end() ? 0.0 : static_cast<double>(mine->second.calls), visits[name]) << name;
      }
    }
  }
}

TEST(MessageStore, FindsWhatIsUnderWayInAWindow) {
  class Talking final : public test::MadeTrace {
   public:
    Talking() : MadeTrace(4) {}
    Result<void> messages(TimeWindow, const MessageSink& sink) const override {
      std::mt19937 random(5);
      for (int i = 0; i < 3000; ++i) {
        Message message;
        message.from = LocationId(random() % 4);
        message.to = LocationId(random() % 4);
        message.bytes = static_cast<std::int64_t>(random() % 100);
        message.sent_ns = static_cast<std::int64_t>(random() % 100000);
        message.received_ns = *message.sent_ns + static_cast<std::int64_t>(random() % 5000);
        if (i % 100 == 0) message.received_ns.reset();
        if (!sink(message)) break;
      }
      return {};
    }
  };
  const Talking trace;
  const auto store = summary::MessageStore::build(trace, make_work()).value();
  EXPECT_EQ(store->size(), 2970U);
  EXPECT_EQ(store->untimed(), 30U);
  for (const auto& [from, to] : {std::pair(0L, 200000L), std::pair(50000L, 50100L), std::pair(99000L, 120000L)}) {
    std::size_t expected = 0;
    (void)trace.messages({}, [&, a = from, b = to](const Message& m) {
      if (m.received_ns && *m.sent_ns < b && *m.received_ns >= a) ++expected;
      return true;
    });
    std::size_t found = 0;
    std::int64_t before = -1;
    store->each(from, to, [&](const summary::StoredMessage& m) {
      ++found;
      EXPECT_GE(m.sent_ns, before);
      before = m.sent_ns;
    });
    EXPECT_EQ(found, expected) << from;
  }
}

TEST(CounterStore, BinsHoldLeastMostAndTheMeanOverTime) {
  test::MadeTrace trace(2);
  const std::uint32_t metric = trace.metric("heat");
  const auto read = [&](std::int64_t time, std::int64_t value) {
    trace.add(EventKind::counter, time, metric, 1).value = value;
  };
  read(0, 10);
  read(50, 20);
  read(75, 40);
  read(150, 0);
  const auto store = summary::CounterStore::build(trace, make_work()).value();
  ASSERT_EQ(store->metrics(), std::vector<std::uint32_t>{metric});
  EXPECT_FALSE(store->has(metric, 0));
  EXPECT_EQ(store->readings(metric), 4U);
  const auto bins = store->bins(metric, 1, 0, 200, 2);
  EXPECT_EQ(bins[0].least, 10);
  EXPECT_EQ(bins[0].most, 40);
  EXPECT_DOUBLE_EQ(bins[0].mean, (50 * 10 + 25 * 20 + 25 * 40) / 100.0);
  EXPECT_EQ(bins[0].last, 40);
  EXPECT_EQ(bins[1].least, 0);
  EXPECT_EQ(bins[1].most, 40);
  // A window inside of what one reading says.
  const auto inside = store->bins(metric, 1, 80, 90, 1);
  EXPECT_TRUE(inside[0].any);
  EXPECT_EQ(inside[0].mean, 40);
  EXPECT_FALSE(store->bins(metric, 1, 300, 400, 1)[0].any);
}

}  // namespace
}  // namespace fathom
