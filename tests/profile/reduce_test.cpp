#include "profile/reduce/reduce.hpp"

#include <gtest/gtest.h>

#include <bit>

#include "profile/compute.hpp"
#include "trace/made_trace.hpp"

namespace fathom {
namespace {

using test::MadeTrace;

ProfilePtr reduced(const Trace& trace, const ReduceOptions& options = {}, const Work& work = make_work()) {
  auto profile = reduce(trace, options, work);
  if (!profile.ok()) ADD_FAILURE() << profile.error().text();
  return profile.ok() ? *profile : nullptr;
}

// "path" -> value of a metric at a location, as text; absent where it is zero.
std::map<std::string, std::string> values(const Profile& profile, std::string_view metric, std::size_t location = 0) {
  std::map<std::string, std::string> out;
  const MetricId id = profile.defs().find_metric(metric);
  if (!id.valid()) return {{"no metric", std::string(metric)}};
  Selection selection;
  selection.flavour.kind = Flavour::Kind::exclusive;
  selection.locations = all_locations(profile.defs());
  const auto cells = compute(profile, id, selection);
  if (!cells.ok()) return {{"error", cells.error().text()}};
  for (std::size_t i = 0; i < profile.defs().contexts.size(); ++i) {
    if (!cells->is_zero(i, location)) out[profile.defs().path(ContextId(i))] = cells->at(i, location).text();
  }
  return out;
}

using Values = std::map<std::string, std::string>;

TEST(Reduce, CallsStandBelowComputeAndTimesSumToTheSpan) {
  MadeTrace trace;
  const auto send = trace.region("MPI_Send", "mpi");
  const auto recv = trace.region("MPI_Recv", "mpi");
  const auto message = [&](EventKind kind, std::int64_t time, std::uint32_t region, std::int32_t peer, int bytes) {
    Event& event = trace.add(kind, time, region);
    event.peer = peer;
    event.bytes = bytes;
  };
  trace.add(EventKind::enter, 1'000'000'000, send);
  message(EventKind::send, 1'000'000'000, send, 1, 100);
  message(EventKind::send, 1'000'000'000, send, kNoPeer, 1000);  // MPI_PROC_NULL: nothing moves
  trace.add(EventKind::leave, 2'000'000'000, send);
  trace.add(EventKind::enter, 5'000'000'000, recv);
  message(EventKind::recv, 5'500'000'000, recv, kUnknownPeer, 7);
  message(EventKind::recv, 5'500'000'000, recv, kNoPeer, 0);
  trace.add(EventKind::leave, 5'500'000'000, recv);
  const auto profile = reduced(trace);
  ASSERT_NE(profile, nullptr);
  EXPECT_EQ(values(*profile, "time"),
            (Values{{"compute", "3"}, {"compute->MPI_Send", "1"}, {"compute->MPI_Recv", "0.5"}}));
  EXPECT_EQ(values(*profile, "visits"),
            (Values{{"compute", "1"}, {"compute->MPI_Send", "1"}, {"compute->MPI_Recv", "1"}}));
  EXPECT_EQ(values(*profile, "bytes_sent"), (Values{{"compute->MPI_Send", "100"}}));
  EXPECT_EQ(values(*profile, "messages_sent"), (Values{{"compute->MPI_Send", "1"}}));
  EXPECT_EQ(values(*profile, "messages_received"), (Values{{"compute->MPI_Recv", "1"}}));
  EXPECT_EQ(values(*profile, "bytes_received"), (Values{{"compute->MPI_Recv", "7"}}));
  EXPECT_FALSE(profile->defs().find_metric("samples").valid());
  EXPECT_FALSE(profile->defs().find_metric("cpu_time").valid());
}

// Two tasks take turns on a thread: their regions nest in their own stacks, wherever the switches are.
MadeTrace trace_of_tasks() {
  MadeTrace trace;
  const auto parallel = trace.region("parallel");
  const auto work = trace.region("work");
  const auto inner = trace.region("inner");
  const auto change = trace.marker("switch", MarkerMeaning::task_switch);
  const auto end = trace.marker("end", MarkerMeaning::task_end);
  constexpr std::int64_t kSecond = 1'000'000'000;
  const auto at = [&](int second, EventKind kind, std::uint32_t name, std::int64_t value = 0) {
    trace.add(kind, second * kSecond, name).value = value;
  };
  at(0, EventKind::enter, parallel);
  at(1, EventKind::marker, change, 1);
  at(1, EventKind::enter, work);
  at(3, EventKind::marker, change, 2);
  at(3, EventKind::enter, work);
  at(3, EventKind::enter, inner);
  at(7, EventKind::marker, change, 1);
  at(8, EventKind::leave, work);
  at(8, EventKind::marker, end, 1);  // back to the thread's own stack
  at(10, EventKind::marker, change, 2);
  at(11, EventKind::leave, inner);
  at(11, EventKind::leave, work);
  at(11, EventKind::marker, change, 0);
  at(12, EventKind::leave, parallel);
  return trace;
}

TEST(Reduce, TasksHaveStacksOfTheirOwn) {
  const MadeTrace trace = trace_of_tasks();
  const Work notes = make_work();
  const auto profile = reduced(trace, {}, notes);
  ASSERT_NE(profile, nullptr);
  EXPECT_EQ(values(*profile, "time"), (Values{{"parallel", "4"}, {"work", "3"}, {"work->inner", "5"}}));
  EXPECT_EQ(values(*profile, "visits"), (Values{{"parallel", "1"}, {"work", "2"}, {"work->inner", "1"}}));
  EXPECT_TRUE(notes->diagnostics.all().empty());
}

// A window begins with what each task has open, so that two windows make the whole wherever they meet.
TEST(Reduce, WindowsOfTasksAddUp) {
  const MadeTrace trace = trace_of_tasks();
  constexpr std::int64_t kSecond = 1'000'000'000;
  for (int cut = 1; cut < 12; ++cut) {
    Values sum;
    for (const TimeWindow window : {TimeWindow{0, cut * kSecond}, TimeWindow{cut * kSecond, 13 * kSecond}}) {
      ReduceOptions options;
      options.window = window;
      const auto profile = reduced(trace, options);
      ASSERT_NE(profile, nullptr);
      for (const auto& [path, value] : values(*profile, "time")) {
        sum[path] = std::to_string(std::stoi("0" + sum[path]) + std::stoi(value));
      }
    }
    EXPECT_EQ(sum, (Values{{"parallel", "4"}, {"work", "3"}, {"work->inner", "5"}})) << "cut at " << cut << " s";
  }
}

TEST(Reduce, UserRegionsAreRootsAndContextsOfAllLocationsAreOneTree) {
  MadeTrace trace(2);
  const auto main = trace.region("main");
  const auto work = trace.region("work");
  const auto send = trace.region("MPI_Send", "mpi");
  for (std::size_t l = 0; l < 2; ++l) {
    trace.add(EventKind::enter, 0, main, l);
    trace.add(EventKind::enter, 1'000'000'000, l == 0 ? work : send, l);
    trace.add(EventKind::leave, 3'000'000'000, l == 0 ? work : send, l);
    trace.add(EventKind::leave, 4'000'000'000, main, l);
  }
  const auto profile = reduced(trace);
  EXPECT_EQ(profile->defs().contexts.size(), 3U);
  EXPECT_EQ(values(*profile, "time", 0), (Values{{"main", "2"}, {"main->work", "2"}}));
  EXPECT_EQ(values(*profile, "time", 1), (Values{{"main", "2"}, {"main->MPI_Send", "2"}}));
}

TEST(Reduce, CountersGoToWhatRanBetweenTheirReadings) {
  MadeTrace trace;
  const auto send = trace.region("MPI_Send", "mpi");
  const auto instructions = trace.metric("instructions");
  const auto joules = trace.metric("joules", ValueKind::f64);
  const auto read = [&](std::int64_t time, std::int64_t count, double energy) {
    trace.add(EventKind::counter, time, instructions).value = count;
    trace.add(EventKind::counter, time, joules).value = std::bit_cast<std::int64_t>(energy);
  };
  trace.add(EventKind::enter, 10, send);
  read(10, 1000, 0.5);
  read(20, 1007, 0.75);
  trace.add(EventKind::leave, 20, send);
  // No time passes in the second call.
  trace.add(EventKind::enter, 50, send);
  read(50, 1107, 1.75);
  read(50, 1108, 1.75);
  trace.add(EventKind::leave, 50, send);
  const auto profile = reduced(trace);
  EXPECT_EQ(values(*profile, "instructions"), (Values{{"compute", "100"}, {"compute->MPI_Send", "8"}}));
  EXPECT_EQ(values(*profile, "joules"), (Values{{"compute", "1"}, {"compute->MPI_Send", "0.25"}}));
}

// What was counted is not gone through anew for each counter.
TEST(Reduce, VeryManyCounters) {
  constexpr std::int64_t kCounters = 200'000;
  MadeTrace trace;
  for (std::int64_t i = 0; i < kCounters; ++i) trace.metric("c" + std::to_string(i));
  for (std::int64_t i = 0; i < 2 * kCounters; ++i) {
    const auto metric = static_cast<std::uint32_t>(i % kCounters);
    trace.add(EventKind::counter, i, metric).value = i < kCounters ? 5 : 6 + metric;
  }
  const auto profile = reduced(trace);
  EXPECT_EQ(values(*profile, "c0"), (Values{{"compute", "1"}}));
  EXPECT_EQ(values(*profile, "c77777"), (Values{{"compute", "77778"}}));
  EXPECT_EQ(values(*profile, "c199999"), (Values{{"compute", "200000"}}));
}

TEST(Reduce, APlaceOfCountersDoesNotCompute) {
  MadeTrace trace(2);
  trace.place_of_counters(1);
  const auto joules = trace.metric("joules");
  for (const std::size_t location : {0U, 1U}) {
    trace.add(EventKind::counter, 1'000'000'000, joules, location).value = 10;
    trace.add(EventKind::counter, 3'000'000'000, joules, location).value = 17;
  }
  const auto profile = reduced(trace);
  EXPECT_EQ(values(*profile, "time", 0), (Values{{"compute", "2"}}));
  EXPECT_EQ(values(*profile, "time", 1), Values{});
  EXPECT_EQ(values(*profile, "joules", 1), (Values{{"compute", "7"}}));
}

TEST(Reduce, CpuTimeIsThatOfTheCallBetweenEnterAndLeave) {
  MadeTrace trace;
  trace.with_cpu_time();
  const auto send = trace.region("MPI_Send", "mpi");
  trace.add(EventKind::enter, 0, send).value = 5'000'000'000;
  trace.add(EventKind::leave, 10, send).value = 7'000'000'000;
  trace.add(EventKind::enter, 20, send).value = 7'500'000'000;
  trace.add(EventKind::leave, 20, send).value = 8'500'000'000;
  EXPECT_EQ(values(*reduced(trace), "cpu_time"), (Values{{"compute", "0.5"}, {"compute->MPI_Send", "3"}}));
}

TEST(Reduce, ASampleCountsUntilTheNextOne) {
  MadeTrace trace;
  const RegionId main(trace.region("main"));
  const RegionId loop(trace.region("loop"));
  const RegionId unused(trace.region("unused"));
  ContextTreeBuilder builder;
  const auto top = builder.add(ContextTreeBuilder::kRoot, main, 100);
  builder.add(top, unused, 101);
  builder.add(top, loop, 102, 7, Edge::lexical);
  trace.use_contexts(std::move(builder).build());
  trace.add(EventKind::sample, 0, 2);
  trace.add(EventKind::sample, 1'000'000'000, 0);
  trace.add(EventKind::sample, 3'000'000'000);  // nothing
  trace.add(EventKind::sample, 7'000'000'000, 2);
  const auto profile = reduced(trace);
  ASSERT_EQ(profile->defs().contexts.size(), 3U);
  EXPECT_EQ(profile->defs().contexts[ContextId(1)].line, 7);
  EXPECT_EQ(profile->defs().contexts[ContextId(1)].edge, Edge::lexical);
  // Exclusive of a function: with its loops.
  EXPECT_EQ(values(*profile, "time"), (Values{{"main", "3"}, {"main->loop", "1"}, {"<no activity>", "4"}}));
  EXPECT_EQ(values(*profile, "samples"), (Values{{"main", "3"}, {"main->loop", "2"}, {"<no activity>", "1"}}));
  EXPECT_FALSE(profile->defs().find_metric("visits").valid());
}

TEST(Reduce, ChannelsStandForCodeWhereAskedFor) {
  MadeTrace trace;
  const auto state = trace.channel("state", {{1, "running"}, {2, "waiting"}});
  const auto cpu = trace.channel("cpu");
  const auto set = [&](std::int64_t time, std::uint32_t channel, std::int64_t value) {
    trace.add(EventKind::state, time, channel).value = value;
  };
  trace.region("ignored");
  set(0, state, 1);
  set(1'000'000'000, cpu, 3);
  set(2'000'000'000, state, 2);
  trace.add(EventKind::enter, 2'500'000'000, 0);
  trace.add(EventKind::state, 4'000'000'000, state).has_value = false;
  trace.add(EventKind::marker, 5'000'000'000);
  ReduceOptions options;
  options.channels = {*find_channel(trace, "state")};
  EXPECT_EQ(values(*reduced(trace, options), "time"),
            (Values{{"state", "1"}, {"state->running", "2"}, {"state->waiting", "2"}}));
  options.channels.push_back(*find_channel(trace, "CPU"));
  const auto both = reduced(trace, options);
  EXPECT_EQ(values(*both, "time"), (Values{{"state->running", "1"},
                                           {"state->running->cpu 3", "1"},
                                           {"state->waiting->cpu 3", "2"},
                                           {"state->cpu 3", "1"}}));
  const auto unknown = find_channel(trace, "stat");
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().text().find("state"), std::string::npos);
}

TEST(Reduce, CallsSplitByPeerKeepTheirSums) {
  MadeTrace trace;
  const auto send = trace.region("MPI_Send", "mpi");
  const auto wait = trace.region("MPI_Waitall", "mpi");
  const auto message = [&](EventKind kind, std::int64_t time, std::uint32_t region, std::int32_t peer, int bytes) {
    Event& event = trace.add(kind, time, region);
    event.peer = peer;
    event.bytes = bytes;
  };
  trace.add(EventKind::enter, 0, send);
  message(EventKind::send, 0, send, 4, 1000);
  trace.add(EventKind::leave, 1'000'000'000, send);
  trace.add(EventKind::enter, 1'000'000'000, wait);
  message(EventKind::recv, 4'000'000'000, wait, 4, 10);
  message(EventKind::recv, 4'000'000'000, wait, 5, 20);
  trace.add(EventKind::leave, 4'000'000'000, wait);
  ReduceOptions options;
  options.split = MessageSplit::peer;
  const auto profile = reduced(trace, options);
  EXPECT_EQ(values(*profile, "time"),
            (Values{{"compute->MPI_Send->peer 4", "1"}, {"compute->MPI_Waitall->several peers", "3"}}));
  EXPECT_EQ(values(*profile, "bytes_received"),
            (Values{{"compute->MPI_Waitall->peer 4", "10"}, {"compute->MPI_Waitall->peer 5", "20"}}));
  EXPECT_EQ(
      values(*profile, "visits"),
      (Values{{"compute", "1"}, {"compute->MPI_Send->peer 4", "1"}, {"compute->MPI_Waitall->several peers", "1"}}));
  options.split = MessageSplit::size;
  EXPECT_EQ(values(*reduced(trace, options), "bytes_sent"), (Values{{"compute->MPI_Send->512 to 1023 bytes", "1000"}}));
}

TEST(Reduce, WindowsAndPartsOfTheTimeAddUpToTheWhole) {
  MadeTrace trace;
  const auto main = trace.region("main");
  const auto send = trace.region("MPI_Send", "mpi");
  trace.add(EventKind::enter, 0, main);
  trace.add(EventKind::enter, 2'000'000'000, send);
  trace.add(EventKind::leave, 6'000'000'000, send);
  trace.add(EventKind::leave, 8'000'000'000, main);
  ReduceOptions options;
  options.window = {1'000'000'000, 4'000'000'000};
  const auto part = reduced(trace, options);
  EXPECT_EQ(values(*part, "time"), (Values{{"main", "1"}, {"main->MPI_Send", "2"}}));
  EXPECT_EQ(values(*part, "visits"), (Values{{"main->MPI_Send", "1"}}));
  options.window = {4'000'000'000, 5'000'000'000};
  EXPECT_EQ(values(*reduced(trace, options), "time"), (Values{{"main->MPI_Send", "1"}}));
  EXPECT_EQ(values(*reduced(trace, options), "visits"), Values{});
  options = {};
  options.parts = 2;
  const auto halves = reduced(trace, options);
  ASSERT_EQ(halves->defs().system.location_count(), 2U);
  EXPECT_EQ(values(*halves, "time", 0), (Values{{"main", "2"}, {"main->MPI_Send", "2"}}));
  EXPECT_EQ(values(*halves, "time", 1), (Values{{"main", "2"}, {"main->MPI_Send", "2"}}));
  EXPECT_EQ(values(*halves, "visits", 1), Values{});
}

TEST(Reduce, DamagedNestingIsToldAndTimesStillSumUp) {
  MadeTrace trace;
  const auto a = trace.region("a");
  const auto b = trace.region("b");
  trace.add(EventKind::leave, 0, b);
  trace.add(EventKind::enter, 1'000'000'000, a);
  trace.add(EventKind::enter, 2'000'000'000, b);
  trace.add(EventKind::leave, 4'000'000'000, a);
  trace.add(EventKind::enter, 3'000'000'000, a);
  trace.add(EventKind::enter, 5'000'000'000, Event::kNoName);
  trace.add(EventKind::marker, 6'000'000'000);
  const Work work = make_work();
  const auto profile = reduced(trace, {}, work);
  EXPECT_EQ(values(*profile, "time"),
            (Values{{"compute", "1"}, {"a", "2"}, {"a->b", "2"}, {"a->unknown region", "1"}}));
  std::map<std::string, std::uint64_t> noted;
  for (const Diagnostic& diagnostic : work->diagnostics.all()) noted[diagnostic.id] = diagnostic.count;
  EXPECT_EQ(noted, (std::map<std::string, std::uint64_t>{{"reduce.unmatched_leave", 1},
                                                         {"reduce.crossed_leave", 1},
                                                         {"reduce.late_event", 1},
                                                         {"reduce.open_region", 2}}));
}

TEST(Reduce, MemoryForContextsIsAskedFor) {
  MadeTrace trace;
  const auto a = trace.region("a");
  for (int i = 0; i < 100'000; ++i) trace.add(EventKind::enter, i, a);
  const auto profile = fathom::reduce(trace, {}, make_work(false, 1 << 20));
  ASSERT_FALSE(profile.ok());
  EXPECT_NE(profile.error().text().find("contexts of a trace"), std::string::npos) << profile.error().text();
}

TEST(Reduce, ATraceWithoutEventsIsAnEmptyProfile) {
  const MadeTrace trace(3);
  const auto profile = reduced(trace);
  EXPECT_EQ(profile->defs().contexts.size(), 0U);
  EXPECT_EQ(profile->defs().system.location_count(), 3U);
}

}  // namespace
}  // namespace fathom
