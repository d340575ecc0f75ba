// Arrows of viewers (flows that are no messages) in the formats that hold them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "formats/chrome/trace_writer.hpp"
#include "formats/perfetto/trace_writer.hpp"
#include "formats/slice_traces.hpp"
#include "temporary_directory.hpp"
#include "trace/made_trace.hpp"

namespace fathom {
namespace {

using Lines = std::vector<std::string>;

std::vector<Event> events_of(const Trace& trace) {
  std::vector<Event> events;
  for (std::size_t i = 0; i < trace.location_count(); ++i) {
    auto stream = trace.open(LocationId(i), {});
    EXPECT_TRUE(stream.ok());
    EventCursor cursor(std::move(*stream));
    while (const Event* event = cursor.next()) events.push_back(*event);
  }
  return events;
}

// From where to where at which times, and the name of the marker at the end.
Lines arrows_of(const Trace& trace) {
  const auto events = events_of(trace);
  std::map<std::uint64_t, std::string> places;
  for (const Event& event : events) {
    if (event.kind != EventKind::enter && event.kind != EventKind::marker) continue;
    places[event.record] = fmt::format("{}@{}", event.location.value, event.time_ns);
  }
  Lines lines;
  for (const Event& event : events) {
    if (event.kind != EventKind::marker || event.origin == Event::kNoRecord) continue;
    lines.push_back(
        fmt::format("{} -> {}@{} {}", places[event.origin], event.location.value, event.time_ns, trace.name(event)));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

Lines counts_of(const Trace& trace) {
  std::map<std::string, int> counts;
  for (const Event& event : events_of(trace)) ++counts[fmt::format("{} {}", to_string(event.kind), trace.name(event))];
  Lines lines;
  for (const auto& [name, count] : counts) lines.push_back(fmt::format("{} {}", count, name));
  return lines;
}

bool lost_arrows(const Work& work) {
  const auto all = work->diagnostics.all();
  return std::any_of(all.begin(), all.end(), [](const Diagnostic& one) { return one.id == "write.arrows"; });
}

// Written to both formats and read again it has the same arrows, and no event more or less.
void expect_kept(const std::filesystem::path& source, std::size_t arrows) {
  const Work work = make_work();
  auto dataset = open_dataset(source, work);
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  const auto before = (*dataset)->trace();
  ASSERT_TRUE(before.ok()) << before.error().text();
  EXPECT_EQ(arrows_of(**before).size(), arrows);
  const TemporaryDirectory scratch;
  for (const char* to : {"chrome", "perfetto"}) {
    SCOPED_TRACE(to);
    ASSERT_TRUE((*find_format(to))->write(**dataset, scratch / to, {}).ok());
    auto again = open_dataset(scratch / to, make_work(), to);
    ASSERT_TRUE(again.ok()) << again.error().text();
    const auto after = (*again)->trace();
    ASSERT_TRUE(after.ok()) << after.error().text();
    EXPECT_EQ(arrows_of(**after), arrows_of(**before));
    EXPECT_EQ(counts_of(**after), counts_of(**before));
  }
  EXPECT_FALSE(lost_arrows(work));
}

std::filesystem::path written(const TemporaryDirectory& scratch, const std::string& text) {
  std::ofstream(scratch / "made.json") << text;
  return scratch / "made.json";
}

// With slices around them and without, over several steps, from threads that are written later, with names of all
// kinds.
TEST(Arrows, AreWrittenAndReadAgain) {
  const TemporaryDirectory scratch;
  expect_kept(written(scratch, R"([{"ph":"X","name":"launch","ts":10,"dur":5,"pid":1,"tid":1},
    {"ph":"X","name":"kernel","ts":20,"dur":5,"pid":1,"tid":2},
    {"ph":"s","cat":"c","name":"a\"c","id":1,"ts":10,"pid":1,"tid":1},
    {"ph":"t","cat":"c","name":"a\"c","id":1,"ts":20,"pid":1,"tid":2},
    {"ph":"f","cat":"c","name":"a\"c","id":1,"ts":40,"pid":1,"tid":1},
    {"ph":"s","cat":"c","name":"","id":2,"ts":3,"pid":1,"tid":3},
    {"ph":"f","cat":"c","name":"","id":2,"ts":50,"pid":1,"tid":1},
    {"ph":"s","cat":"c","name":"alone","id":3,"ts":12,"pid":1,"tid":1},
    {"ph":"i","name":"arrow","cat":"arrow","ts":13,"pid":1,"tid":1}])"),
              3);
}

// Slices that name what flows, and steps that are slices as well.
TEST(Arrows, BetweenSlicesAreKept) {
  const TemporaryDirectory scratch;
  expect_kept(written(scratch,
                      R"([{"ph":"X","name":"a","ts":10,"dur":5,"pid":1,"tid":1,"bind_id":"0x1","flow_out":true},
    {"ph":"X","name":"b","ts":20,"dur":5,"pid":1,"tid":2,"bind_id":"0x1","flow_in":true,"flow_out":true},
    {"ph":"X","name":"c","ts":30,"dur":0,"pid":1,"tid":1,"bind_id":"0x1","flow_in":true}])"),
              2);
}

TEST(Arrows, OfRealFilesAreKept) {
  const std::filesystem::path data = std::filesystem::path(FATHOM_SHARED_DATA) / "perfetto";
  if (!std::filesystem::exists(data)) GTEST_SKIP() << "no shared data";
  for (const auto& [name, arrows] : std::map<std::string, std::size_t>{
           // As the trace processor counts flows.
           {"chrome/perfetto_flow_v1.json", test::expected_of("perfetto_flow_v1.json")["flows"]},
           {"chrome/perfetto_flow_v2.json", test::expected_of("perfetto_flow_v2.json")["flows"]},
           {"pftrace/flow_events_track_event.pftrace", test::expected_of("flow_events_track_event.pftrace")["flows"]},
           {"chrome/kineto_event_sync.json.gz", test::expected_of("kineto_event_sync.json.gz")["flows"]}}) {
    SCOPED_TRACE(name);
    expect_kept(data / name, arrows);
  }
}

// Kernels and copies come from calls, which are slices: no marker is needed where they begin.
TEST(Arrows, FromSlicesAreKept) {
  expect_kept(FATHOM_SOURCE_DIR "/examples/gpu.sqlite", 4);  // two kernels, a copy, a memset
}

struct TraceWithArrows : test::MadeTrace {
  using MadeTrace::MadeTrace;
  [[nodiscard]] bool has_arrows() const override { return true; }
};

TEST(Arrows, ManyFromOneEventAndThoseFromNowhere) {
  TraceWithArrows trace(2);
  const auto region = trace.region("call");
  const auto marker = trace.marker("work", MarkerMeaning::none);
  trace.add(EventKind::enter, 100, region).record = 1;
  trace.add(EventKind::leave, 900, region).record = 2;
  for (std::uint64_t i = 0; i < 3; ++i) {
    Event& event = trace.add(EventKind::marker, 200 + static_cast<std::int64_t>(i), marker, 1);
    event.record = 10 + i;
    event.origin = 1;
  }
  Event& event = trace.add(EventKind::marker, 300, marker, 1);
  event.record = 20;
  event.origin = 77;  // which is not there
  const TemporaryDirectory scratch;
  for (const char* to : {"chrome", "perfetto"}) {
    SCOPED_TRACE(to);
    const Work work = make_work();
    const auto write = std::string_view(to) == "chrome" ? chrome::write_trace : perfetto::write_trace;
    ASSERT_TRUE(write(trace, scratch / to, work).ok());
    ASSERT_EQ(work->diagnostics.all().size(), 1U);
    EXPECT_EQ(work->diagnostics.all()[0].id, "write.arrows");
    EXPECT_EQ(work->diagnostics.all()[0].count, 1U);
    auto again = open_dataset(scratch / to, make_work(), to);
    ASSERT_TRUE(again.ok()) << again.error().text();
    const auto after = (*again)->trace();
    ASSERT_TRUE(after.ok());
    EXPECT_EQ(arrows_of(**after), (Lines{"0@100 -> 1@200 work", "0@100 -> 1@201 work", "0@100 -> 1@202 work"}));
    EXPECT_EQ(counts_of(**after), (Lines{"1 enter call", "1 leave call", "4 marker work"}));
  }
}

// An arrow may take no time, and its end stand in the file before its beginning; an id may be used again at once.
TEST(Arrows, OfOneMomentHaveTheirOrder) {
  DatasetPtr dataset;
  const auto trace = test::read_text(R"([{"ph":"f","cat":"c","name":"a","id":1,"ts":5,"pid":1,"tid":2},
    {"ph":"s","cat":"c","name":"a","id":1,"ts":5,"pid":1,"tid":1},
    {"ph":"s","cat":"c","name":"b","id":1,"ts":5,"pid":1,"tid":1},
    {"ph":"f","cat":"c","name":"b","id":1,"ts":7,"pid":1,"tid":2},
    {"ph":"s","cat":"c","name":"b","id":1,"ts":7,"pid":1,"tid":2},
    {"ph":"f","cat":"c","name":"b","id":1,"ts":8,"pid":1,"tid":1}])",
                                     "chrome", dataset);
  ASSERT_NE(trace, nullptr);
  EXPECT_EQ(arrows_of(*trace), (Lines{"0@5000 -> 1@5000 a", "0@5000 -> 1@7000 b", "1@7000 -> 0@8000 b"}));
}

}  // namespace
}  // namespace fathom
