#include <gtest/gtest.h>

#include <random>

#include "formats/perfetto/proto.hpp"
#include "formats/slice_traces.hpp"
#include "io/inflate.hpp"
#include "temporary_directory.hpp"
#include "zstd_bytes.hpp"

namespace fathom::perfetto {
namespace {

using test::read_text;
using test::sums_of;

std::filesystem::path data() { return std::filesystem::path(FATHOM_SHARED_DATA) / "perfetto"; }

// Probes of what the page drops without a word, or shows without a name: we take it. So we do with a mark of ftrace
// that overlaps a track event, which it cuts off.
const std::vector<std::string> kOtherwise = {
    "probe_no_sequence.pftrace",
    "probe_interned_needs_without_cleared.pftrace",
    "probe_interned_other_sequence.pftrace",
    "probe_interned_not_cleared.pftrace",
    "track_event_with_atrace.pftrace",
};

TEST(Perfetto, AgreesWithTheTraceProcessor) {
  if (!std::filesystem::exists(data())) GTEST_SKIP() << "no shared data";
  int files = 0;
  for (const char* folder : {"pftrace", "probes"}) {
    for (const auto& entry : std::filesystem::directory_iterator(data() / folder)) {
      const std::string name = entry.path().filename().string();
      if (!name.ends_with(".pftrace")) continue;
      SCOPED_TRACE(name);
      auto dataset = open_dataset(entry.path(), make_work());
      ASSERT_TRUE(dataset.ok()) << dataset.error().text();
      EXPECT_EQ((*dataset)->format().name, "perfetto");
      auto trace = (*dataset)->trace();
      ASSERT_TRUE(trace.ok()) << trace.error().text();
      const auto sums = sums_of(**trace);
      const auto expected = test::expected_of(entry.path());
      ++files;
      if (std::find(kOtherwise.begin(), kOtherwise.end(), name) != kOtherwise.end()) {
        EXPECT_EQ(sums.slices, name == "track_event_with_atrace.pftrace" ? 3U : 1U);
        continue;
      }
      test::expect_names(sums, expected);
      EXPECT_EQ(sums.counters, expected["counter_values"].get<std::uint64_t>());
    }
  }
  EXPECT_GE(files, 35);
}

// Messages by hand: a thread, two nested slices and a counter.
std::string small_trace() {
  std::string out;
  const auto packet = [&](const std::string& body) { put_bytes(out, 1, body); };
  std::string thread;
  put_number(thread, 1, 5);
  put_number(thread, 2, 6);
  put_bytes(thread, 5, "worker");
  std::string track;
  put_number(track, 1, 77);
  put_bytes(track, 4, thread);
  std::string descriptor;
  put_bytes(descriptor, 60, track);
  packet(descriptor);
  const auto event = [&](std::uint64_t time, std::uint64_t type, const std::string& name) {
    std::string body;
    put_number(body, 9, type);
    put_number(body, 11, 77);
    if (!name.empty()) put_bytes(body, 23, name);
    std::string outer;
    put_number(outer, 8, time);
    put_number(outer, 10, 1);
    put_bytes(outer, 11, body);
    packet(outer);
  };
  event(100, 1, "main");
  event(150, 1, "inner");
  event(170, 3, "here");
  event(180, 2, "");
  event(200, 2, "");
  return out;
}

TEST(Perfetto, ReadsPackedPackets) {
  const std::string plain = small_trace();
  const auto packed = deflate_zlib(as_bytes(plain), 6);
  std::string body;
  put_bytes(body, 50, {reinterpret_cast<const char*>(packed.data()), packed.size()});
  std::string file;
  put_bytes(file, 1, body);
  std::string zstd_body, zstd_file;
  put_bytes(zstd_body, 133, test::zstd(plain));
  put_bytes(zstd_file, 1, zstd_body);
  for (const std::string& text : {plain, file, zstd_file}) {
    const Work work = make_work();
    DatasetPtr dataset;
    const auto trace = read_text(text, "perfetto", dataset, work);
    ASSERT_NE(trace, nullptr);
    EXPECT_EQ(sums_of(*trace).slices, 2U);
    EXPECT_EQ(sums_of(*trace).names.at("main").total_ns, 100);
    EXPECT_EQ(sums_of(*trace).names.at("inner").total_ns, 30);
    EXPECT_TRUE(work->diagnostics.all().empty());
  }
}

TEST(Perfetto, DamagedPackedPacketsAreTold) {
  std::string body, file = small_trace();
  put_bytes(body, 133, "x");
  put_bytes(file, 1, body);
  const Work work = make_work();
  DatasetPtr dataset;
  const auto trace = read_text(file, "perfetto", dataset, work);
  ASSERT_NE(trace, nullptr);
  EXPECT_EQ(sums_of(*trace).slices, 2U);
  ASSERT_EQ(work->diagnostics.all().size(), 1U);
  EXPECT_EQ(work->diagnostics.all()[0].text, "1 packets cannot be read");
}

// Packets put together by hand.
class MadeTrace {
 public:
  std::string text;
  void packet(const std::string& body) { put_bytes(text, 1, body); }
  void descriptor(const std::string& track) {
    std::string body;
    put_bytes(body, 60, track);
    packet(body);
  }
  // `fields` are those of the track event.
  void event(std::uint64_t time, const std::string& fields) {
    std::string body;
    put_number(body, 8, time);
    put_number(body, 10, 1);
    put_bytes(body, 11, fields);
    packet(body);
  }
};

std::vector<Event> events_of(const Trace& trace) {
  std::vector<Event> out;
  for (std::size_t i = 0; i < trace.location_count(); ++i) {
    EventCursor cursor(std::move(*trace.open(LocationId(i), {})));
    while (const Event* event = cursor.next()) out.push_back(*event);
  }
  return out;
}

// What a counter is called, in what unit it counts and that its values add up is told after the first of them.
TEST(Perfetto, CountersMayBeDescribedLate) {
  MadeTrace made;
  const auto value = [&](std::uint64_t time, std::int64_t number) {
    std::string event;
    put_number(event, 9, 4);
    put_number(event, 11, 5);
    put_number(event, 30, static_cast<std::uint64_t>(number));
    made.event(time, event);
  };
  value(10, 2);
  std::string counter;
  put_number(counter, 3, 3);
  put_number(counter, 4, 1024);
  put_number(counter, 5, 1);
  std::string track;
  put_number(track, 1, 5);
  put_bytes(track, 2, "heap");
  put_bytes(track, 8, counter);
  made.descriptor(track);
  value(20, 3);
  DatasetPtr dataset;
  const auto trace = read_text(made.text, "perfetto", dataset);
  ASSERT_NE(trace, nullptr);
  ASSERT_EQ(trace->definitions().metrics.size(), 1U);
  EXPECT_EQ(trace->definitions().metrics[0].name, "heap");
  EXPECT_EQ(trace->definitions().metrics[0].unit, "bytes");
  const auto events = events_of(*trace);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].value, 2 * 1024);
  EXPECT_EQ(events[1].value, 5 * 1024);
}

// A snapshot of clocks, of sequence 1 as the service writes it: the number of the sequence comes last.
std::string snapshot(std::initializer_list<std::pair<std::uint64_t, std::uint64_t>> clocks) {
  std::string all;
  for (const auto& [id, time] : clocks) {
    std::string one;
    put_number(one, 1, id);
    put_number(one, 2, time);
    put_bytes(all, 1, one);
  }
  std::string packet;
  put_bytes(packet, 6, all);
  put_number(packet, 10, 1);
  std::string out;
  put_bytes(out, 1, packet);
  return out;
}
// A mark on a clock.
std::string mark(std::uint64_t clock, std::uint64_t time) {
  std::string event;
  put_number(event, 9, 3);
  put_number(event, 11, 5);
  put_bytes(event, 23, "mark");
  std::string packet;
  put_number(packet, 8, time);
  put_number(packet, 58, clock);
  put_number(packet, 10, 1);
  put_bytes(packet, 11, event);
  std::string out;
  put_bytes(out, 1, packet);
  return out;
}

// Expected times are those of Perfetto's trace processor.
TEST(Perfetto, ClocksAreTiedBySnapshots) {
  const auto times = [](const std::string& text) {
    DatasetPtr dataset;
    std::vector<std::int64_t> out;
    const Work work = make_work();
    const auto trace = read_text(text, "perfetto", dataset, work);
    EXPECT_TRUE(work->diagnostics.all().empty());
    if (trace == nullptr) return out;
    for (const Event& event : events_of(*trace)) out.push_back(event.time_ns);
    return out;
  };
  using Times = std::vector<std::int64_t>;
  constexpr std::uint64_t kOwn = 64;  // of the sequence
  constexpr std::uint64_t kGlobal = 128;
  EXPECT_EQ(times(snapshot({{kOwn, 1000}, {6, 501000}}) + mark(kOwn, 2000)), Times{502000});
  // Clocks drift: the last snapshot before a time holds for it, wherever in the file it stands.
  EXPECT_EQ(times(snapshot({{3, 1000}, {6, 2000}}) + snapshot({{3, 3000}, {6, 4005}}) + mark(3, 1500) + mark(3, 3500)),
            (Times{2500, 4505}));
  // Over another clock, whose snapshot comes first or last.
  const std::string far = snapshot({{kGlobal, 50000}, {3, 3000}});
  const std::string near = snapshot({{3, 1000}, {6, 2000}});
  EXPECT_EQ(times(near + far + mark(kGlobal, 51000)), Times{5000});
  EXPECT_EQ(times(far + near + mark(kGlobal, 51000)), Times{5000});
}

// Who waits may be written before who is waited for.
TEST(Perfetto, FlowsGoByTime) {
  MadeTrace made;
  const auto slice = [&](std::uint64_t time, std::uint32_t flow_field) {
    std::string event;
    put_number(event, 9, 3);
    put_number(event, 11, 5);
    put_bytes(event, 23, "point");
    put_number(event, flow_field, 42);
    made.event(time, event);
  };
  slice(200, 42);  // terminating
  slice(100, 36);
  DatasetPtr dataset;
  const auto trace = read_text(made.text, "perfetto", dataset);
  ASSERT_NE(trace, nullptr);
  std::vector<Event> flows;
  for (const Event& event : events_of(*trace)) {
    if (trace->name(event) == "flow") flows.push_back(event);
  }
  ASSERT_EQ(flows.size(), 2U);
  EXPECT_EQ(flows[0].origin, Event::kNoRecord);
  EXPECT_EQ(flows[1].origin, flows[0].record);
}

// As the trace processor does, in whatever order they stand; what it has no name for has the one that is written out.
TEST(Perfetto, InternedNamesCountBeforeOthers) {
  std::string entry;
  put_number(entry, 1, 1);
  put_bytes(entry, 2, "interned");
  std::string interned;
  put_bytes(interned, 2, entry);
  std::string text, known, unknown, none, old;
  put_bytes(text, 23, "text");
  put_number(known, 10, 1);
  put_number(unknown, 10, 7);
  put_number(none, 10, 0);
  std::string legacy;
  put_number(legacy, 1, 1);
  put_bytes(old, 6, legacy);
  std::string file;
  std::uint64_t time = 100;
  for (const std::string& names : {text + known, known + text, none + text, text + none, text + unknown, text + old}) {
    std::string event;
    put_number(event, 9, 3);
    put_number(event, 11, 5);
    std::string packet;
    put_number(packet, 8, time += 100);
    put_number(packet, 10, 1);
    put_number(packet, 13, file.empty() ? 3 : 2);
    if (file.empty()) put_bytes(packet, 12, interned);
    put_bytes(packet, 11, event + names);
    put_bytes(file, 1, packet);
  }
  DatasetPtr dataset;
  const auto trace = read_text(file, "perfetto", dataset);
  ASSERT_NE(trace, nullptr);
  std::vector<std::string> names;
  for (const Event& event : events_of(*trace)) names.emplace_back(trace->name(event));
  EXPECT_EQ(names, (std::vector<std::string>{"interned", "interned", "text", "text", "text", "interned"}));
}

// Phases as in Chrome's JSON: a complete slice on a thread named by its numbers, counters, a flow, and where it stands.
TEST(Perfetto, OldEventsOfAllPhases) {
  MadeTrace made;
  const auto legacy = [&](std::uint64_t time, char phase, const std::string& name, const std::string& more,
                          const std::string& event_more = {}) {
    std::string old;
    put_number(old, 2, static_cast<std::uint64_t>(phase));
    old += more;
    std::string event;
    put_bytes(event, 23, name);
    put_bytes(event, 6, old);
    made.event(time, event + event_more);
  };
  std::string elsewhere;
  put_number(elsewhere, 18, 100);
  put_number(elsewhere, 19, 101);
  std::string duration = elsewhere;
  put_number(duration, 3, 7);
  std::string source;
  put_bytes(source, 2, "a.cc");
  put_number(source, 4, 12);
  std::string where;
  put_bytes(where, 33, source);
  legacy(1000, 'X', "work", duration, where);
  std::string id = elsewhere;
  put_number(id, 6, 99);
  legacy(2000, 's', "arrow", id);
  legacy(3000, 'f', "arrow", id);
  std::string annotation;
  put_bytes(annotation, 10, "used");
  put_double(annotation, 5, 2.5);
  std::string argument;
  put_bytes(argument, 4, annotation);
  legacy(4000, 'C', "memory", elsewhere, argument);
  std::string flows;  // ids as newer events have them
  put_number(flows, 36, 7);
  legacy(5000, 'I', "moment", elsewhere, flows);
  DatasetPtr dataset;
  const auto trace = read_text(made.text, "perfetto", dataset);
  ASSERT_NE(trace, nullptr);
  ASSERT_EQ(trace->location_count(), 1U);
  EXPECT_EQ(trace->definitions().system.location(LocationId(0)).name, "thread 101");
  EXPECT_EQ(trace->definitions().regions[0].file, "a.cc");
  EXPECT_EQ(trace->definitions().regions[0].begin_line, 12);
  const auto events = events_of(*trace);
  ASSERT_EQ(events.size(), 7U);
  EXPECT_EQ(events[2].kind, EventKind::marker);
  EXPECT_EQ(events[2].origin, events[1].record);
  EXPECT_EQ(events[3].kind, EventKind::counter);
  EXPECT_EQ(std::bit_cast<double>(events[3].value), 2.5);
  EXPECT_EQ(events[4].kind, EventKind::marker);
  EXPECT_EQ(events[5].kind, EventKind::marker);
  EXPECT_EQ(events[4].time_ns, events[5].time_ns);
  EXPECT_EQ(events[6].time_ns - events[0].time_ns, 7000);
  EXPECT_EQ(trace->definitions().metrics[0].name, "memory used");
}

// What is not used is counted and named.
// Messages of others have fields of the same numbers, with values of other kinds.
TEST(Perfetto, OtherMessagesAreNoTraces) {
  std::string other;
  for (std::uint64_t i = 0; i < 4; ++i) {
    std::string body;
    put_bytes(body, 1, "stack");
    put_number(body, 2, 1000 + i);
    put_bytes(other, 1, body);
  }
  EXPECT_FALSE(open_source(Source::of(Blob::own("x.pb", other)), make_work()).ok());
}

// What programs write to trace_marker; other events of the kernel are counted.
TEST(Perfetto, MarksInTheKernelsBufferAreSlices) {
  std::string bundle;
  const auto add = [&](std::uint64_t time, std::uint64_t thread, std::uint32_t kind, std::string_view text) {
    std::string body, print;
    put_number(body, 1, time);
    put_number(body, 2, thread);
    put_bytes(print, 2, text);
    put_bytes(body, kind, print);
    put_bytes(bundle, 2, body);
  };
  constexpr std::uint32_t kPrint = 3, kSchedSwitch = 4;
  add(100, 7, kPrint, "B|5|outer|with bar\n");
  add(110, 7, kPrint, "B|5|inner\n");
  add(115, 8, kPrint, "I|5|point\n");
  add(118, 7, kSchedSwitch, "task");
  add(120, 7, kPrint, "C|5|heap|42\n");
  add(130, 7, kPrint, "E\n");
  add(150, 7, kPrint, "E|5\n");
  add(105, 8, kPrint, "S|5|load|1\n");
  add(145, 7, kPrint, "F|5|load|1\n");
  add(105, 8, kPrint, "G|5|row|draw|9\n");
  add(125, 8, kPrint, "H|5|row|9\n");
  add(160, 8, kPrint, "trace_event_clock_sync: parent_ts=1\n");
  std::string packet, text;
  put_bytes(packet, 1, bundle);
  put_number(packet, 10, 1);
  put_bytes(text, 1, packet);
  const Work work = make_work();
  DatasetPtr dataset;
  const auto trace = read_text(text, "perfetto", dataset, work);
  ASSERT_NE(trace, nullptr);
  const auto sums = sums_of(*trace);
  EXPECT_EQ(sums.slices, 4U);
  EXPECT_EQ(sums.names.at("outer|with bar").total_ns, 50);
  EXPECT_EQ(sums.names.at("inner").total_ns, 20);
  EXPECT_EQ(sums.names.at("load").total_ns, 40);
  EXPECT_EQ(sums.names.at("draw").total_ns, 20);
  EXPECT_EQ(sums.counters, 1U);
  ASSERT_EQ(work->diagnostics.all().size(), 1U);
  EXPECT_EQ(work->diagnostics.all()[0].text, "packets that are no track events are not used: 2 events of ftrace");
}

TEST(Perfetto, PacketsOfOthersAreTold) {
  std::string text = small_trace();
  for (const std::uint32_t field : {1U, 1U, 66U, 500U}) {
    std::string body;
    put_bytes(body, field, "x");
    put_bytes(text, 1, body);
  }
  std::string lost;
  put_number(lost, 42, 1);
  put_bytes(text, 1, lost);
  const Work work = make_work();
  DatasetPtr dataset;
  const auto trace = read_text(text, "perfetto", dataset, work);
  ASSERT_NE(trace, nullptr);
  EXPECT_EQ(sums_of(*trace).slices, 2U);
  std::map<std::string, std::string> told;
  for (const Diagnostic& one : work->diagnostics.all()) told[one.id] = one.text;
  EXPECT_EQ(told.size(), 2U);
  EXPECT_EQ(told["perfetto.other_packets"],
            "packets that are no track events are not used: 2 of ftrace, 1 of perf samples, 1 of field 500");
  EXPECT_EQ(told.count("perfetto.dropped_packets"), 1U);
}

TEST(Perfetto, CutAnywhereItReadsWhatIsThere) {
  const std::string text = small_trace();
  std::uint64_t most = 0;
  for (std::size_t size = 0; size <= text.size(); ++size) {
    auto dataset = open_source(Source::of(Blob::own("cut", text.substr(0, size))), make_work(), "perfetto");
    ASSERT_TRUE(dataset.ok());
    auto trace = (*dataset)->trace();
    if (!trace.ok()) continue;
    const auto sums = sums_of(**trace);
    EXPECT_GE(sums.slices, most);
    most = sums.slices;
  }
  EXPECT_EQ(most, 2U);
}

TEST(Perfetto, FlippedBitsNeverCrash) {
  std::mt19937 random(11);
  for (int i = 0; i < 400; ++i) {
    std::string text = small_trace();
    for (int k = 0; k < 3; ++k) text[random() % text.size()] ^= static_cast<char>(1 << random() % 8);
    auto dataset = open_source(Source::of(Blob::own("flipped", text)), make_work(), "perfetto");
    ASSERT_TRUE(dataset.ok());
    auto trace = (*dataset)->trace();
    if (!trace.ok()) continue;
    for (std::size_t l = 0; l < (*trace)->location_count(); ++l) {
      auto stream = (*trace)->open(LocationId(l), {});
      ASSERT_TRUE(stream.ok());
      EventCursor cursor(std::move(*stream));
      std::string detail;
      while (const Event* event = cursor.next()) EXPECT_TRUE((*trace)->detail(*event, detail).ok());
    }
  }
}

TEST(Perfetto, WhatIsWrittenIsReadAgain) {
  auto ring = open_dataset(FATHOM_SOURCE_DIR "/examples/ring/ring.meta", make_work());
  ASSERT_TRUE(ring.ok());
  TemporaryDirectory scratch;
  ASSERT_TRUE((*find_format("perfetto"))->write(**ring, scratch / "ring.pftrace", {}).ok());
  auto again = open_dataset(scratch / "ring.pftrace", make_work());
  ASSERT_TRUE(again.ok());
  EXPECT_EQ((*again)->format().name, "perfetto");
  auto before = (*ring)->trace();
  auto after = (*again)->trace();
  ASSERT_TRUE(before.ok() && after.ok());
  ASSERT_EQ((*before)->location_count(), (*after)->location_count());
  const auto a = sums_of(**before);
  const auto b = sums_of(**after);
  EXPECT_EQ(a.sends, b.sends);
  EXPECT_EQ(a.receives, b.receives);
  EXPECT_EQ(a.slices, b.slices);
  ASSERT_EQ(a.names.size(), b.names.size());
  for (const auto& [name, sums] : a.names) {
    EXPECT_EQ(sums.count, b.names.at(name).count) << name;
    EXPECT_EQ(sums.total_ns, b.names.at(name).total_ns) << name;
    EXPECT_EQ(sums.instants, b.names.at(name).instants) << name;
  }
  EXPECT_EQ((*before)->location_span(LocationId(1))->from_ns, (*after)->location_span(LocationId(1))->from_ns);
  std::uint64_t matched = 0;
  ASSERT_TRUE((*after)
                  ->messages({},
                             [&](const Message&) {
                               ++matched;
                               return true;
                             })
                  .ok());
  EXPECT_EQ(matched, 12U);
}

}  // namespace
}  // namespace fathom::perfetto
