#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <random>

#include "formats/otf2/trace_writer.hpp"
#include "formats/ovni/check.hpp"
#include "formats/ovni/clock_offsets.hpp"
#include "formats/ovni/count.hpp"
#include "formats/ovni/emulator.hpp"
#include "formats/ovni/metadata.hpp"
#include "formats/ovni/models.hpp"
#include "formats/ovni/ordered_cursor.hpp"
#include "formats/ovni/ovni_trace.hpp"
#include "formats/ovni/sort.hpp"
#include "formats/registry.hpp"
#include "made_trace.hpp"
#include "ovni_cases.hpp"
#include "profile/compute.hpp"
#include "trace/aggregate.hpp"
#include "trace/merge.hpp"
#include "trace/slice_view.hpp"

namespace fathom::ovni {
namespace {

std::string events_text(const Trace& trace) {
  std::string text;
  auto merged = MergedEvents::over(trace);
  EXPECT_TRUE(merged.ok());
  while (const fathom::Event* event = merged->next()) {
    std::string detail;
    EXPECT_TRUE(trace.detail(*event, detail).ok());
    text += std::to_string(event->time_ns) + ' ' + std::string(to_string(event->kind)) + ' ' +
            std::string(trace.name(*event)) + ' ' + detail + '\n';
  }
  EXPECT_TRUE(merged->status().ok());
  return text;
}

TEST(OvniMade, CatalogueIsConsistent) {
  for (std::size_t i = 0; i < all_events().size(); ++i) {
    const EventDef& def = all_events()[i];
    EXPECT_EQ(find_event(pack_mcv(def.mcv)), static_cast<int>(i)) << def.mcv;
    EXPECT_EQ(model_info(def.model).character, def.mcv[0]);
    const EventInfo& info = event_info(static_cast<int>(i));
    std::size_t shown = 0;
    for (const SentencePart& part : info.sentence) {
      if (part.argument < 0) continue;
      EXPECT_LT(static_cast<std::size_t>(part.argument), info.arguments.size()) << def.mcv;
      ++shown;
    }
    EXPECT_EQ(shown, info.arguments.size()) << def.mcv;
    if (def.channel >= 0 && def.effect != Effect::flush_end) {
      const ChannelDef& channel = model_info(def.model).channels[static_cast<std::size_t>(def.channel)];
      EXPECT_FALSE(find_label(channel.type, def.value).empty()) << def.mcv;
    }
  }
  EXPECT_EQ(find_event(pack_mcv("Zzz")), -1);
}

TEST(OvniMade, DumpsAndCounts) {
  TemporaryDirectory scratch;
  const Work work = make_work();
  auto trace = open_native(write_made(scratch.path()), work);
  ASSERT_TRUE(trace.ok()) << trace.error().text();
  const std::string text = dump_text(*trace, DumpForm::sentence, work);
  EXPECT_EQ(text.substr(0, text.find('\n')),
            "      1000  OHx  loom.node.1/proc.10/thread.11  begins the execution on CPU 0 created from -1 with tag 0");
  EXPECT_NE(text.find("      1001  VYc  loom.node.1/proc.10/thread.11  creates task type 1 with label \"solve\"\n"),
            std::string::npos);
  DumpFilter filter;
  filter.codes = {"MS*"};
  const std::string raw = dump_text(*trace, DumpForm::raw, work, filter);
  EXPECT_EQ(raw,
            "      1020  MS[  loom.node.1/proc.10/thread.11  \n      1030  MS]  loom.node.1/proc.10/thread.11  \n");
  auto counts = count_events(*trace, work);
  ASSERT_TRUE(counts.ok());
  EXPECT_EQ((*counts)[0].events, 9U);
  EXPECT_FALSE(work->diagnostics.defective());
}

TEST(OvniMade, ReadsBigEndian) {
  // The same two events, byte by byte: OHe without payload, OM= with value 258 of type 3.
  const std::string little("ovni\x01\0\0\0\x00OHe\x05\0\0\0\0\0\0\0", 20);
  const std::string big(
      "ovni\0\0\0\x01\x00OHe\0\0\0\0\0\0\0\x05\x0bOM=\0\0\0\0\0\0\0\x06\0\0\0\0\0\0\x01\x02\0\0\0\x03", 44);
  auto stream = stream_of(Blob::own("big", big), false);
  ASSERT_TRUE(stream.ok());
  StreamCursor cursor(*stream);
  Event event;
  ASSERT_TRUE(cursor.next(event));
  EXPECT_EQ(event.clock(), 5U);
  ASSERT_TRUE(cursor.next(event));
  EXPECT_EQ(event.clock(), 6U);
  EXPECT_EQ(event.argument<std::int64_t>(0), 258);
  EXPECT_EQ(event.argument<std::int32_t>(8), 3);
  EXPECT_FALSE(cursor.next(event));
  EXPECT_EQ(cursor.left(), 0U);
  auto headless = stream_of(Blob::own("old", big.substr(8)), true);
  ASSERT_TRUE(headless.ok());
  EXPECT_EQ(headless->order, Endian::big);
  auto same = stream_of(Blob::own("little", little), false);
  ASSERT_TRUE(same.ok());
  EXPECT_EQ(same->order, Endian::little);
}

TEST(OvniMade, MapsToTheTraceLevel) {
  TemporaryDirectory scratch;
  auto dataset = open_dataset(write_made(scratch.path()), make_work());
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  EXPECT_EQ((*dataset)->format().name, "ovni");
  auto trace = (*dataset)->trace();
  ASSERT_TRUE(trace.ok()) << trace.error().text();
  EXPECT_EQ(events_text(**trace),
            "1000 state cpu value=0;label=CPU 0.4;event=OHx;cpu=0;tid=-1;tag=0\n"
            "1000 enter thread event=OHx;cpu=0;tid=-1;tag=0\n"
            "1000 state thread state value=1;label=Running;event=OHx;cpu=0;tid=-1;tag=0\n"
            "1001 marker VYc event=VYc;typeid=1;label=solve\n"
            "1002 marker VTc event=VTc;taskid=7;typeid=1\n"
            "1010 state task value=7;event=VTx;taskid=7;bodyid=0\n"
            "1010 enter solve event=VTx;taskid=7;bodyid=0\n"
            "1020 enter MPI_Send event=MS[\n"
            "1025 marker phase event=OM=;value=2;type=3\n"
            "1030 leave MPI_Send event=MS]\n"
            "1040 leave solve event=VTe;taskid=7;bodyid=0\n"
            "1040 state task value=;event=VTe;taskid=7;bodyid=0\n"
            "1050 state thread state value=3;label=Dead;event=OHe\n"
            "1050 state cpu value=;event=OHe\n"
            "1050 leave thread event=OHe\n");
  EXPECT_EQ((*trace)->known_records(LocationId(0)), 9U);
}

// Counters without a name, and the CPU of a thread that nothing is known of, have no metric and no channel.
TEST(OvniMade, WhatHasNoPlaceStaysAsAMarker) {
  TemporaryDirectory scratch;
  StreamBuilder stream;
  stream.jumbo("VWC", 5, Payload().add(std::int64_t{3}).add(std::int64_t{4}));
  stream.event("OAs", 6, Payload().add(std::int32_t{1}));
  Metadata metadata = made_metadata();
  const auto text = [&](const char* place) {
    const Work work = make_work();
    auto native = open_native(write_made(scratch.path() / place, stream.bytes(), metadata), work);
    EXPECT_TRUE(native.ok());
    auto trace = OvniTrace::make(*native, work);
    EXPECT_TRUE(trace.ok());
    return events_text(**trace);
  };
  EXPECT_EQ(text("unnamed"),
            "5 marker VWC event=VWC;values=3\n"
            "6 state cpu value=1;label=CPU 0.5;event=OAs;cpu=1\n");
  metadata.counters = {{{0, "cycles"}}};
  EXPECT_EQ(text("fewer names"),
            "5 counter cycles value=3;event=VWC;values=3\n"
            "5 marker VWC event=VWC;values=3\n"
            "6 state cpu value=1;label=CPU 0.5;event=OAs;cpu=1\n");
  metadata.part.reset();
  EXPECT_EQ(text("no thread"),
            "5 marker VWC event=VWC;values=3\n"
            "6 marker OAs event=OAs;cpu=1\n");
}

TEST(OvniMade, PutsWrongNestingRight) {
  TemporaryDirectory scratch;
  StreamBuilder stream;
  stream.event("MS[", 5).event("MR[", 6).event("MS]", 7).event("MW]", 8);
  const Work work = make_work();
  auto native = open_native(write_made(scratch.path(), stream.bytes()), work);
  ASSERT_TRUE(native.ok());
  auto trace = OvniTrace::make(*native, work);
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(events_text(**trace),
            "5 enter MPI_Send event=MS[\n"
            "6 enter MPI_Recv event=MR[\n"
            "7 leave MPI_Recv event=MS]\n"
            "7 leave MPI_Send event=MS]\n"
            "7 enter MPI_Recv event=MS]\n"
            "8 marker MW] event=MW]\n"
            "8 leave MPI_Recv \n");
}

// Subsystems of two models cross: each is visited once, whichever ends first.
TEST(OvniMade, CrossingSubsystemsAreVisitedOnce) {
  StreamBuilder stream;
  stream.event("OHx", 1000, Payload().add(std::int32_t{0}).add(std::int32_t{-1}).add(std::uint64_t{0}));
  stream.event("VAs", 1010);  // nOS-V submits
  stream.event("MS[", 1020);  // MPI_Send
  stream.event("VAS", 1050);
  stream.event("MS]", 1080);
  stream.event("OHe", 1100);
  TemporaryDirectory scratch;
  const Work work = make_work();
  auto dataset = open_dataset(write_made(scratch.path(), stream.bytes()), work);
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  auto profile = (*dataset)->profile();
  ASSERT_TRUE(profile.ok()) << profile.error().text();
  const Definitions& defs = (*profile)->defs();
  const auto values = [&](const char* metric) {
    std::map<std::string, double> sums;
    const Selection selection{{Flavour::Kind::exclusive, {}}, {}, all_locations(defs), true};
    auto cells = compute(**profile, defs.find_metric(metric), selection);
    EXPECT_TRUE(cells.ok());
    for (std::size_t row = 0; cells.ok() && row < cells->rows(); ++row) {
      sums[defs.region_of(ContextId(row)).name] += cells->scalar(row, 0);
    }
    return sums;
  };
  const auto visits = values("visits");
  EXPECT_EQ(visits.at("MPI_Send"), 1);
  EXPECT_EQ(visits.at("nosv API: Submit"), 1);
  EXPECT_EQ(visits.at("thread"), 1);
  EXPECT_NEAR(values("time").at("MPI_Send"), 60e-9, 1e-15);
  // Statistics from the same events.
  auto trace = (*dataset)->trace();
  ASSERT_TRUE(trace.ok());
  auto totals = aggregate(**trace, LocationId(0U), {});
  ASSERT_TRUE(totals.ok());
  EXPECT_EQ(totals->regions.size(), 3U);
  for (const auto& [region, sums] : totals->regions) EXPECT_EQ(sums.count, 1U) << region;

  // Formats that know calls alone get one more, and say so.
  struct NoSink : SliceSink {
    void begin(std::uint32_t, std::int64_t, std::string_view, const fathom::Event&) override {}
    void end(std::uint32_t, std::int64_t, std::string_view) override {}
    void instant(std::int64_t, std::string_view, const fathom::Event&) override {}
    void counter(std::int64_t, const fathom::Event&) override {}
    void message(std::int64_t, const fathom::Event&, std::uint64_t) override {}
  } sink;
  SliceView view(**trace);
  ASSERT_TRUE(view.write(LocationId(0U), {}, sink).ok());
  EXPECT_EQ(view.notes().resumed, 1U);
  const Work told = make_work();
  if (otf2::write_trace(**trace, scratch.path() / "out.otf2", told).ok()) {
    const auto notes = told->diagnostics.all();
    EXPECT_TRUE(std::any_of(notes.begin(), notes.end(), [](const Diagnostic& note) {
      return note.id == "otf2.resumed" && note.count == 1 && note.severity == Severity::data_loss;
    }));
  }
}

TEST(OvniMade, PutsLateEventsWhereTheyBelong) {
  TemporaryDirectory scratch;
  StreamBuilder stream;
  stream.event("MS[", 50).event("MS]", 60).event("OB.", 10).event("OB.", 60);
  const Work work = make_work();
  auto native = open_native(write_made(scratch.path(), stream.bytes()), work);
  ASSERT_TRUE(native.ok());
  auto trace = OvniTrace::make(*native, work);
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(events_text(**trace),
            "10 marker OB. event=OB.\n50 enter MPI_Send event=MS[\n60 leave MPI_Send event=MS]\n"
            "60 marker OB. event=OB.\n");
  const auto notes = work->diagnostics.all();
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].id, "ovni.unordered");
  EXPECT_NE(notes[0].text.find("window of 3 events"), std::string::npos) << notes[0].text;
  // The window is paid for.
  const Work poor = make_work(false, 50);
  EXPECT_FALSE(OvniTrace::make(*native, poor).ok());
}

TEST(OvniMade, WindowsAreLargeEnough) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    StreamBuilder builder;
    std::vector<std::pair<std::int64_t, std::uint64_t>> expected;  // clock, offset
    const std::size_t count = random() % 60;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t clock = 100 + i - (random() % 4 == 0 ? random() % 20 : 0);
      expected.emplace_back(clock, builder.bytes().size());
      builder.event("OB.", clock);
    }
    auto stream = stream_of(Blob::own("made", builder.bytes()), false);
    ASSERT_TRUE(stream.ok());
    const bool ordered = std::is_sorted(expected.begin(), expected.end(),
                                        [](const auto& a, const auto& b) { return a.first < b.first; });
    const std::uint64_t lateness = find_lateness(*stream, 1000);
    EXPECT_EQ(lateness == 0, ordered);
    EXPECT_LE(lateness, count);
    // A look-back that is too short for it asks for everything, never for too little.
    const std::uint64_t careful = find_lateness(*stream, 5);
    EXPECT_TRUE(careful == lateness || careful == count) << careful << " " << lateness;
    std::sort(expected.begin(), expected.end());
    for (const std::uint64_t window : {lateness, careful}) {
      OrderedCursor cursor(*stream, window);
      std::vector<std::pair<std::int64_t, std::uint64_t>> found;
      for (Event event; cursor.next(event);) found.emplace_back(event.clock(), offset_in(*stream, event.at));
      EXPECT_EQ(found, expected);
    }
  }
}

TEST(OvniMade, MovesByOthersChangeTheChannelOfTheThread) {
  TemporaryDirectory scratch;
  StreamBuilder moved;
  moved.event("OHx", 100, Payload().add(std::int32_t{0}).add(std::int32_t{-1}).add(std::uint64_t{0}));
  moved.event("OHp", 110).event("OHr", 200).event("OHe", 300);
  StreamBuilder mover;
  mover.event("OHx", 90, Payload().add(std::int32_t{1}).add(std::int32_t{-1}).add(std::uint64_t{0}));
  mover.event("OAr", 95, Payload().add(std::int32_t{1}).add(std::int32_t{11}));   // not there yet
  mover.event("OAr", 150, Payload().add(std::int32_t{1}).add(std::int32_t{11}));  // to CPU 1
  mover.event("OAr", 160, Payload().add(std::int32_t{7}).add(std::int32_t{11}));  // no such CPU
  mover.event("OAr", 400, Payload().add(std::int32_t{0}).add(std::int32_t{11}));  // gone already
  write_made(scratch.path(), moved.bytes());
  const Work work = make_work();
  auto native = open_native(write_made(scratch.path(), mover.bytes(), made_metadata(12)), work);
  ASSERT_TRUE(native.ok());
  auto trace = OvniTrace::make(*native, work);
  ASSERT_TRUE(trace.ok());
  std::string cpus;
  auto stream = (*trace)->open(LocationId(0), {});
  ASSERT_TRUE(stream.ok());
  EventCursor cursor(std::move(*stream));
  while (const fathom::Event* event = cursor.next()) {
    if (event->kind != EventKind::state || (*trace)->name(*event) != "cpu") continue;
    cpus += std::to_string(event->time_ns) + '=' + (event->has_value ? std::to_string(event->value) : "-") + ' ';
  }
  EXPECT_EQ(cpus, "100=0 150=1 300=- ");
}

TEST(OvniMade, ChecksGoOnBehindADefect) {
  TemporaryDirectory scratch;
  std::string bytes = made_stream();
  StreamBuilder more(false);
  more.event("MS]", 1060).event("OHp", 1070).event("OHe", 1055);
  const Work work = make_work();
  work->diagnostics.list_every_occurrence();
  auto native = open_native(write_made(scratch.path(), bytes + more.bytes()), work);
  ASSERT_TRUE(native.ok());
  ASSERT_TRUE(check_trace(*native, work).ok());
  std::vector<std::string> ids;
  for (const Diagnostic& one : work->diagnostics.all()) ids.push_back(one.id);
  // MS] of a dead thread, OHp of a dead thread, a clock that goes backwards; OHe behind it is not judged.
  EXPECT_EQ(ids, (std::vector<std::string>{"ovni.event", "ovni.event", "ovni.clock_order"}));
  EXPECT_NE(work->diagnostics.all().back().text.find("run fathom sort"), std::string::npos);
}

TEST(OvniMade, OffsetsFromSamples) {
  auto offsets = offsets_from_samples(Blob::own(
      "samples",
      std::string("rank host clock\n0 a 100\n0 a 200\n0 a 300\n1 b 90\n1 b 195\n1 b 280\n2 b 1\n2 b 2\n2 b 3\n")));
  ASSERT_TRUE(offsets.ok()) << offsets.error().text();
  ASSERT_EQ(offsets->size(), 2U);
  EXPECT_EQ((*offsets)[1].host, "b");
  EXPECT_EQ((*offsets)[1].median, 10);  // of 5, 10, 20
  EXPECT_NEAR((*offsets)[1].mean, 35.0 / 3, 1e-12);
  EXPECT_NEAR((*offsets)[1].deviation, 7.637626158259733, 1e-12);
  auto read = read_offsets(Blob::own("table", offsets_text(*offsets)));
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ((*read)[1].median, 10);
  // Whatever 64 bits hold is an offset.
  auto large = read_offsets(Blob::own("table", std::string("heading\n0 a 9e18 0 0\n1 b -9.2e18 0 0\n")));
  ASSERT_TRUE(large.ok()) << large.error().text();
  EXPECT_EQ((*large)[0].median, 9e18);
  EXPECT_FALSE(read_offsets(Blob::own("table", std::string("heading\n0 a 1e19 0 0\n"))).ok());
  EXPECT_FALSE(offsets_from_samples(Blob::own("samples", std::string("0 a 1\n0 a 2\n1 b 1\n"))).ok());
}

// Regions of late events, many windows long: the file comes out piece by piece, as a stable sort of the parts says.
TEST(OvniMade, SortsInPiecesAndCountsItsWindow) {
  std::mt19937 random(5);
  struct Made {
    std::uint64_t clock;
    std::uint64_t number;
    std::string_view mcv;
  };
  std::vector<Made> events;
  std::uint64_t clock = 1000;
  const auto add = [&](std::string_view mcv, std::uint64_t at) { events.push_back({at, events.size(), mcv}); };
  StreamBuilder builder;
  for (int k = 0; k < 60; ++k) add("OB.", clock += 1);
  for (int i = 0; i < 2000; ++i) {
    for (int k = 0; k < 10; ++k) add("OB.", clock += 1 + random() % 5);
    const std::uint64_t late = clock - 1 - random() % 40;
    add("OU[", ++clock);
    add("KCO", late);
    add("KCI", late + random() % 3);
    // What `sort` says of a region: everything from the last event in front of it that is earlier, by time.
    std::size_t from = events.size();
    while (events[--from].clock >= late) {
    }
    std::stable_sort(events.begin() + static_cast<std::ptrdiff_t>(from), events.end(),
                     [](const Made& a, const Made& b) { return a.clock < b.clock; });
    add("OU]", ++clock);
  }
  std::vector<Made> before = events;
  std::sort(before.begin(), before.end(), [](const Made& a, const Made& b) { return a.number < b.number; });
  StreamBuilder wanted;
  for (const Made& one : before) builder.event(one.mcv, one.clock, Payload().add(one.number));
  for (const Made& one : events) wanted.event(one.mcv, one.clock, Payload().add(one.number));
  const auto stream = stream_of(Blob::own("made", builder.bytes()), false);
  ASSERT_TRUE(stream.ok());
  for (const std::size_t window : {std::size_t{100}, std::size_t{3000}, kSortWindow}) {
    SortResult result;
    const auto sorted = sorted_bytes(*stream, window, &result);
    ASSERT_TRUE(sorted.ok()) << sorted.error().text();
    EXPECT_TRUE(result.changed);
    EXPECT_EQ(result.regions, 2000U);
    EXPECT_TRUE(*sorted == wanted.bytes()) << window;
  }
  const Work small = make_work(false, 10'000);
  const auto refused = sort_stream(
      *stream, kSortWindow, [](Bytes) { return Result<void>{}; }, small);
  ASSERT_FALSE(refused.ok());
}

TEST(OvniMade, TruncatedAtEveryByte) {
  const std::string whole = made_stream();
  std::size_t boundaries = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    TemporaryDirectory scratch;
    const Work work = make_work();
    auto trace = open_native(write_made(scratch.path(), whole.substr(0, size)), work);
    if (!trace.ok()) {
      EXPECT_LT(size, 8U);
      EXPECT_FALSE(trace.error().place().file.empty());
      continue;
    }
    const std::string text = dump_text(*trace, DumpForm::sentence, work);
    // Whole events stay readable; the rest is reported with its place.
    const auto lines = std::count(text.begin(), text.end(), '\n');
    EXPECT_LE(lines, 8);
    auto counts = count_events(*trace, work);
    ASSERT_TRUE(counts.ok());
    EXPECT_EQ((*counts)[0].events, static_cast<std::uint64_t>(lines));
    bool incomplete = false;
    for (const Diagnostic& one : work->diagnostics.all()) incomplete = incomplete || one.id == "ovni.incomplete_event";
    if (!incomplete) ++boundaries;
    NullSink writer;
    EXPECT_FALSE(emulate(*trace, {}, writer, work).ok());
  }
  EXPECT_EQ(boundaries, 9U);  // behind the header and behind each event but the last
}

TEST(OvniMade, StreamsInOrderStayAndAreRefusedWhereTheWindowIsTooSmall) {
  std::mt19937 random(11);
  std::size_t refused = 0;
  for (int round = 0; round < 2000; ++round) {
    struct Made {
      std::string_view mcv;
      std::uint64_t clock;
    };
    std::vector<Made> events;
    std::uint64_t clock = 100;
    for (std::size_t i = 0; i < 20; ++i) {
      clock += random() % 3 == 0 ? 5 : 0;  // often equal
      events.push_back({std::array{"OU[", "OU]", "OB."}[random() % 3], clock});
    }
    StreamBuilder builder;
    for (const Made& one : events) builder.event(one.mcv, one.clock);
    const std::size_t window = 2 + random() % 12;
    // A region needs an event before its first one among the last window - 1 before its end; none are needed while
    // there were fewer than that.
    bool good = true;
    std::uint64_t regions = 0;
    std::uint64_t empty = 0;
    std::optional<std::size_t> begin;
    for (std::size_t i = 0; i < events.size() && good; ++i) {
      if (!begin) {
        if (events[i].mcv == "OU[") begin = i;
      } else if (events[i].mcv == "OU]") {
        ++(i == *begin + 1 ? empty : regions);
        const std::size_t reach = window - 1;
        bool found = i < reach || i == *begin + 1;
        for (std::size_t k = i - std::min(i, reach); k < i; ++k) {
          found = found || events[k].clock < events[*begin + 1].clock;
        }
        good = found;
        begin.reset();
      }
    }
    auto stream = stream_of(Blob::own("made", builder.bytes()), false);
    ASSERT_TRUE(stream.ok());
    SortResult result;
    const auto sorted = sorted_bytes(*stream, window, &result);
    ASSERT_EQ(sorted.ok(), good) << round;
    if (!good) {
      ++refused;
      continue;
    }
    EXPECT_FALSE(result.changed);
    EXPECT_EQ(result.regions, regions);
    EXPECT_EQ(result.empty_regions, empty);
  }
  EXPECT_GT(refused, 100U);
  EXPECT_LT(refused, 1900U);
}

// Clocks are unsigned: half of them lie beyond 2^63.
TEST(OvniMade, ClocksBeyondTheLargestSignedNumber) {
  const TemporaryDirectory scratch;
  StreamBuilder made;
  made.event("OHx", 4'000'000'000'000'000'000U,
             Payload().add(std::int32_t{0}).add(std::int32_t{-1}).add(std::uint64_t{0}));
  made.event("OHe", 12'000'000'000'000'000'000U);
  auto stream = stream_of(Blob::own("late", made.bytes()), false);
  ASSERT_TRUE(stream.ok());
  NativeTrace trace;
  trace.root = scratch.path();
  stream->metadata = made_metadata();
  trace.streams.push_back(std::move(*stream));
  NullSink writer;
  const auto status = emulate(trace, {}, writer, make_work());
  EXPECT_TRUE(status.ok()) << status.error().text();
}

TEST(OvniMade, BitFlipsNeverCrash) {
  const std::string whole = made_stream();
  std::mt19937 random(20240229);
  TemporaryDirectory scratch;
  std::size_t accepted = 0;
  for (int round = 0; round < 1000; ++round) {
    std::string bytes = whole;
    bytes[random() % bytes.size()] ^= static_cast<char>(1U << random() % 8);
    const Work work = make_work();
    auto stream = stream_of(Blob::own("flipped", bytes), round % 2 == 0);
    if (!stream.ok()) continue;
    NativeTrace trace;
    trace.root = scratch.path();
    stream->metadata = made_metadata();
    trace.streams.push_back(std::move(*stream));
    (void)dump_text(trace, DumpForm::sentence, work);
    (void)sorted_bytes(trace.streams[0], kSortWindow);
    EXPECT_TRUE(check_trace(trace, work).ok());
    auto mapped = OvniTrace::make(trace, work);
    ASSERT_TRUE(mapped.ok());
    (void)events_text(**mapped);
    NullSink writer;
    const auto status = emulate(trace, {}, writer, work);
    if (status.ok()) {
      ++accepted;
    } else {
      EXPECT_FALSE(status.error().place().file.empty()) << status.error().text();
    }
  }
  EXPECT_GT(accepted, 0U);
  EXPECT_LT(accepted, 1000U);
}

TEST(OvniMade, MetadataDamageNeverCrashes) {
  const std::string whole = to_stream_json(made_metadata());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    auto cut = read_stream_metadata(Blob::own("stream.json", whole.substr(0, size)));
    ASSERT_FALSE(cut.ok()) << size;
    EXPECT_TRUE(cut.error().place().offset.has_value());
  }
  std::mt19937 random(7);
  for (int round = 0; round < 1000; ++round) {
    std::string text = whole;
    text[random() % text.size()] ^= static_cast<char>(1U << random() % 8);
    auto metadata = read_stream_metadata(Blob::own("stream.json", text));
    if (!metadata.ok()) {
      EXPECT_FALSE(metadata.error().place().file.empty());
    }
  }
}

}  // namespace
}  // namespace fathom::ovni
