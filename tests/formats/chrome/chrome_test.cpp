#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "formats/chrome/trace_writer.hpp"
#include "formats/perfetto/trace_writer.hpp"
#include "formats/slice_traces.hpp"
#include "io/file.hpp"
#include "temporary_directory.hpp"
#include "trace/gpu_idleness.hpp"
#include "trace/made_trace.hpp"

namespace fathom::chrome {
namespace {

using test::read_text;
using test::sums_of;

std::filesystem::path data() { return std::filesystem::path(FATHOM_SHARED_DATA) / "perfetto"; }

// Where the trace processor refuses events that we take, or leaves open what we close with the slice around it.
const std::map<std::string, std::vector<std::string>> kLeftOpenThere = {
    {"speedscope_zero-duration-events.json", {"C"}},
    {"catapult_nestable_async.json", {"URL_REQUEST_DELEGATE_UNMATCHED_BEGIN"}},
};

TEST(Chrome, AgreesWithTheTraceProcessor) {
  if (!std::filesystem::exists(data())) GTEST_SKIP() << "no shared data";
  int files = 0;
  for (const char* folder : {"chrome", "probes"}) {
    for (const auto& entry : std::filesystem::directory_iterator(data() / folder)) {
      const std::string name = entry.path().filename().string();
      if (name.find(".json") == std::string::npos) continue;
      SCOPED_TRACE(name);
      auto dataset = open_dataset(entry.path(), make_work());
      ASSERT_TRUE(dataset.ok()) << dataset.error().text();
      EXPECT_EQ((*dataset)->format().name, "chrome");
      auto trace = (*dataset)->trace();
      ASSERT_TRUE(trace.ok()) << trace.error().text();
      const auto expected = test::expected_of(entry.path());
      const auto open = kLeftOpenThere.find(name);
      const auto sums = sums_of(**trace);
      test::expect_names(sums, expected, open == kLeftOpenThere.end() ? std::vector<std::string>{} : open->second);
      EXPECT_EQ(sums.counters, expected["counter_values"].get<std::uint64_t>());
      // What it drops we keep.
      std::uint64_t dropped = 0;
      for (const auto& problem : expected["problems"]) {
        if (problem["name"] == "slice_drop_overlapping_complete_event")
          dropped += problem["value"].get<std::uint64_t>();
      }
      EXPECT_GE(sums.slices + sums.markers, expected["slices"].get<std::uint64_t>() + dropped);
      ++files;
    }
  }
  EXPECT_GE(files, 40);
}

TEST(Chrome, KeepsWhatOverlapsOnARowBeside) {
  DatasetPtr dataset;
  const Work work = make_work();
  const auto trace = read_text(R"([{"ph":"X","name":"a","pid":1,"tid":2,"ts":0,"dur":10},
    {"ph":"X","name":"b","pid":1,"tid":2,"ts":5,"dur":10},{"ph":"X","name":"c","pid":1,"tid":2,"ts":6,"dur":2}])",
                               "chrome", dataset, work);
  ASSERT_NE(trace, nullptr);
  ASSERT_EQ(trace->location_count(), 2U);
  EXPECT_EQ(trace->definitions().system.location_label(LocationId(0)), "1.2");
  EXPECT_EQ(trace->definitions().system.location_label(LocationId(1)), "1.2+1");
  const auto sums = sums_of(*trace);
  EXPECT_EQ(sums.names.at("a").total_ns, 10000);
  EXPECT_EQ(sums.names.at("b").total_ns, 10000);
  EXPECT_EQ(sums.names.at("c").total_ns, 2000);
}

TEST(Chrome, TimesAreExactFarFromZero) {
  DatasetPtr dataset;
  auto trace =
      read_text(R"([{"ph":"X","name":"a","pid":1,"tid":1,"ts":1707417525509335.123,"dur":0.0005}])", "chrome", dataset);
  ASSERT_NE(trace, nullptr);
  EXPECT_EQ(trace->known_span()->from_ns, 1707417525509335123);
  EXPECT_EQ(trace->known_span()->to_ns, 1707417525509335124);
  // PyTorch counts from a base, unless times are whole already.
  trace = read_text(R"({"traceEvents":[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1.5,"dur":1}],
    "baseTimeNanoseconds":1700000000000000000})",
                    "chrome", dataset);
  ASSERT_NE(trace, nullptr);
  EXPECT_EQ(trace->known_span()->from_ns, 1700000000000001500);
  trace = read_text(R"({"baseTimeNanoseconds":1700000000000000000,
    "traceEvents":[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1700000000000002.5,"dur":1}]})",
                    "chrome", dataset);
  ASSERT_NE(trace, nullptr);
  EXPECT_EQ(trace->known_span()->from_ns, 1700000000000002500);
}

// Lists of objects inside events that look like events, over many pieces: pieces end where events end all the same.
TEST(Chrome, PiecesEndBetweenEvents) {
  std::string text = "{\"traceEvents\":[";
  constexpr int kEvents = 45000;
  for (int i = 0; i < kEvents; ++i) {
    text += fmt::format(
        "{}{{\"ph\":\"X\",\"name\":\"f{}\",\"pid\":{},\"tid\":1,\"ts\":{},\"dur\":1,"
        "\"args\":{{\"list\":[{{\"ph\":\"X\",\"name\":\"no\"}},{{\"ph\":\"X\",\"text\":\"}},{{\\\"ph\\\":1\"}}]}}}}",
        i == 0 ? "" : ",", i % 7, i % 3, i * 2);
  }
  text += "],\"samples\":[{\"ph\":\"X\"},{\"ph\":\"X\"}],\"traceName\":\"made\"}";
  ASSERT_GT(text.size(), std::size_t{5} << 20);
  DatasetPtr dataset;
  const Work work = make_work();
  const auto trace = read_text(text, "chrome", dataset, work);
  ASSERT_NE(trace, nullptr);
  ASSERT_EQ(work->diagnostics.size(), 1U);
  EXPECT_EQ(work->diagnostics.all()[0].id, "chrome.other_lists");  // samples, which are none of the events
  const auto sums = sums_of(*trace);
  EXPECT_EQ(sums.slices, std::uint64_t{kEvents});
  EXPECT_EQ(sums.names.count("no"), 0U);
  const auto* name = find_attribute(trace->definitions().attributes, "traceName");
  ASSERT_NE(name, nullptr);
  EXPECT_EQ(*name, "made");
}

// Ids of a process are none of another, nor the same number for all.
TEST(Chrome, LocalIdsAreThoseOfAProcess) {
  std::string text = "[";
  for (const char* id :
       {R"("id":"0x1","pid":1,"name":"all")", R"("id2":{"local":"0x1"},"pid":1,"name":"one")",
        R"("id2":{"local":"0x1"},"pid":2,"name":"two")", R"("id2":{"global":"0x2"},"pid":2,"name":"far")"}) {
    text += std::string(R"({"ph":"b","cat":"k","ts":1,)") + id + "},";
  }
  for (const char* id : {R"("id2":{"local":"0x1"},"pid":2)", R"("id2":{"local":"0x1"},"pid":1)",
                         R"("id":"0x1","pid":1)", R"("id":"0x2","pid":2)"}) {
    text += std::string(R"({"ph":"e","cat":"k","ts":9,)") + id + "},";
  }
  const Work work = make_work();
  DatasetPtr dataset;
  const auto trace = read_text(text + R"({"ph":"i","ts":9,"pid":1,"name":"end"}])", "chrome", dataset, work);
  ASSERT_NE(trace, nullptr);
  const auto sums = sums_of(*trace);
  for (const char* name : {"all", "one", "two", "far"}) EXPECT_EQ(sums.names.at(name).total_ns, 8000) << name;
  EXPECT_TRUE(work->diagnostics.all().empty());
}

// What begins in one process may end in another, and belongs to the first.
TEST(Chrome, GlobalIdsReachOverProcesses) {
  DatasetPtr dataset;
  const Work work = make_work();
  const auto trace = read_text(R"([{"ph":"e","cat":"k","name":"far","id2":{"global":"7"},"ts":9,"pid":2},
                                   {"ph":"b","cat":"k","name":"far","id2":{"global":"7"},"ts":1,"pid":1},
                                   {"ph":"i","name":"end","ts":10,"pid":1}])",
                               "chrome", dataset, work);
  ASSERT_NE(trace, nullptr);
  EXPECT_EQ(sums_of(*trace).names.at("far").total_ns, 8000);
  EXPECT_TRUE(work->diagnostics.all().empty());
}

// The end of an arrow may stand before its begin; steps follow each other.
TEST(Chrome, ArrowsGoByTime) {
  DatasetPtr dataset;
  const auto trace = read_text(R"([{"ph":"f","cat":"c","name":"a","id":1,"ts":30,"pid":1,"tid":3},
                                   {"ph":"t","cat":"c","name":"a","id":1,"ts":20,"pid":1,"tid":2},
                                   {"ph":"s","cat":"c","name":"a","id":1,"ts":10,"pid":1,"tid":1}])",
                               "chrome", dataset);
  ASSERT_NE(trace, nullptr);
  std::vector<Event> points;
  for (std::size_t i = 0; i < trace->location_count(); ++i) {
    auto stream = trace->open(LocationId(i), {});
    ASSERT_TRUE(stream.ok());
    EventCursor cursor(std::move(*stream), 4);
    while (const Event* event = cursor.next()) points.push_back(*event);
  }
  ASSERT_EQ(points.size(), 3U);
  EXPECT_EQ(points[0].origin, Event::kNoRecord);
  EXPECT_EQ(points[1].origin, points[0].record);
  EXPECT_EQ(points[2].origin, points[1].record);
}

// As programs write them that append to one file: the trace processor takes them too.
TEST(Chrome, CommasMayBeMissing) {
  DatasetPtr dataset;
  const auto trace = read_text(R"([{"ph":"X","name":"a","ts":1,"dur":2,"pid":1,"tid":1}
                                   {"ph":"X","name":"b","ts":5,"dur":2,"pid":1,"tid":1}])",
                               "chrome", dataset);
  ASSERT_NE(trace, nullptr);
  EXPECT_EQ(sums_of(*trace).slices, 2U);
}

TEST(Chrome, OneNameMayBeWrittenInManyWays) {
  DatasetPtr dataset;
  const Work work = make_work();
  const auto trace = read_text(R"([{"ph":"X","name":"A/B","ts":1,"dur":2,"pid":1,"tid":1},
                                   {"ph":"X","name":"A\/B","ts":5,"dur":2,"pid":1,"tid":1},
                                   {"ph":"X","name":"\u0041/B","ts":9,"pid":1,"tid":1}])",
                               "chrome", dataset, work);
  ASSERT_NE(trace, nullptr);
  EXPECT_EQ(trace->definitions().regions.size(), 1U);
  EXPECT_EQ(sums_of(*trace).names.at("A/B").count, 3U);
  // The last one says no length.
  ASSERT_EQ(work->diagnostics.size(), 1U);
  EXPECT_EQ(work->diagnostics.all()[0].id, "chrome.no_duration");
}

// What ends in the same moment ends there in whatever order the file has it; later ends are a defect.
TEST(Chrome, EndsOfOneMomentComeInAnyOrder) {
  const auto event = [](const char* phase, const char* name, const char* more) {
    return fmt::format(R"({{"ph":"{}","name":"{}","pid":1,"tid":1,"ts":{}}},)", phase, name, more);
  };
  const std::string begins = event("B", "a", "1") + event("B", "b", "2") + event("X", "x", R"(3,"dur":4)") +
                             event("B", "a", "4") + event("E", "a", "7");  // ends with the slice around it
  for (const char* last : {"9", "11"}) {
    DatasetPtr dataset;
    const Work work = make_work();
    const auto trace = read_text(
        "[" + begins + event("E", "a", "9") + event("E", "b", last) + R"({"ph":"i","ts":12,"pid":1,"name":"end"}])",
        "chrome", dataset, work);
    ASSERT_NE(trace, nullptr);
    const auto sums = sums_of(*trace);
    EXPECT_EQ(sums.names.at("a").total_ns, 8000 + 3000);
    EXPECT_EQ(sums.names.at("b").total_ns, 7000);
    EXPECT_EQ(sums.names.at("x").total_ns, 4000);
    EXPECT_EQ(work->diagnostics.all().size(), last == std::string_view("9") ? 0U : 2U);
  }
}

// An end without a name is that of the innermost slice, also where the complete one around it ends in that moment.
TEST(Chrome, EndsWithoutANameAreOfTheInnermost) {
  const auto event = [](const char* phase, const char* name, const char* more) {
    return fmt::format(R"({{"ph":"{}","name":"{}","pid":1,"tid":1,"ts":{}}},)", phase, name, more);
  };
  const auto end = [](int time) { return fmt::format(R"({{"ph":"E","pid":1,"tid":1,"ts":{}}},)", time); };
  DatasetPtr dataset;
  const Work work = make_work();
  const auto trace =
      read_text("[" + event("B", "a", "1") + event("X", "x", R"(3,"dur":4)") + event("B", "b", "4") +
                    event("B", "c", "5") + end(7) + end(7) +                                          // c and b
                    event("X", "x", R"(8,"dur":2)") + event("B", "b", "9") + event("B", "d", "10") +  // b ends with x
                    end(10) + end(10) + end(12) + R"({"ph":"i","ts":12,"pid":1,"name":"end"}])",      // d, b and a
                "chrome", dataset, work);
  ASSERT_NE(trace, nullptr);
  const auto sums = sums_of(*trace);
  EXPECT_EQ(sums.names.at("a").total_ns, 11000);
  EXPECT_EQ(sums.names.at("b").total_ns, 3000 + 1000);
  EXPECT_EQ(sums.names.at("c").total_ns, 2000);
  EXPECT_EQ(sums.names.at("d").total_ns, 0);
  EXPECT_EQ(sums.names.at("x").total_ns, 6000);
  EXPECT_EQ(work->diagnostics.all().size(), 0U);
}

// Marks and samples are moments; objects, memory dumps, clocks and contexts are told.
TEST(Chrome, PhasesThatAreMomentsAndPhasesThatAreNone) {
  std::string text = "[";
  for (const std::string_view phase : {"R", "P", "N", "O", "D", "v", "V", "c", "(", ")"}) {
    text += fmt::format(R"({{"ph":"{0}","name":"of {0}","pid":1,"tid":2,"ts":5,"id":"1","args":{{}}}},)", phase);
  }
  const Work work = make_work();
  DatasetPtr dataset;
  const auto trace =
      read_text(text + R"({"ph":"X","name":"x","pid":1,"tid":2,"ts":1,"dur":9}])", "chrome", dataset, work);
  ASSERT_NE(trace, nullptr);
  const auto stream = trace->open(LocationId(0), {});
  std::vector<Event> events(64);
  const std::size_t count = (*stream)->next(events).value();
  std::vector<std::string> markers;
  for (std::size_t i = 0; i < count; ++i) {
    if (events[i].kind == EventKind::marker) markers.push_back(trace->markers()[events[i].name]);
  }
  EXPECT_EQ(markers, (std::vector<std::string>{"of R", "of P"}));
  ASSERT_EQ(work->diagnostics.all().size(), 1U);
  EXPECT_EQ(work->diagnostics.all()[0].id, "chrome.ignored_events");
  EXPECT_EQ(work->diagnostics.all()[0].count, 8U);
}

TEST(Chrome, WhatStandsBesideTheEventsIsKeptOrTold) {
  const Work work = make_work();
  DatasetPtr dataset;
  const auto trace = read_text(
      R"({"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": 3, "pg": [1]}, "samples": [{"cpu": 0}],)"
      R"("stackFrames": {}, "traceEvents": [{"ph":"i","name":"m","ts":1,"pid":1}], "traceName": "a\"b"})",
      "chrome", dataset, work);
  ASSERT_NE(trace, nullptr);
  const Attributes& attributes = trace->definitions().attributes;
  EXPECT_EQ(*find_attribute(attributes, "distributedInfo.rank"), "3");
  EXPECT_EQ(*find_attribute(attributes, "distributedInfo.backend"), "nccl");
  EXPECT_EQ(*find_attribute(attributes, "traceName"), "a\"b");
  ASSERT_EQ(work->diagnostics.all().size(), 1U);
  EXPECT_EQ(work->diagnostics.all()[0].text, "lists beside the events are not used: samples");
}

TEST(Chrome, MalformedEventsAreCountedAndTheOthersUsed) {
  DatasetPtr dataset;
  const Work work = make_work();
  const auto trace = read_text(
      "[{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":1},17,{\"name\":\"none\"},{\"ph\" \"X\"},"
      "{\"ph\":\"X\",\"name\":\"bad \xFF\",\"pid\":1,\"tid\":1,\"ts\":2,\"dur\":1},"
      "{\"ph\":\"X\",\"name\":\"late\",\"pid\":1,\"tid\":1,\"dur\":1},{\"ph\":\"X\",\"name\":\"cut",
      "chrome", dataset, work);
  ASSERT_NE(trace, nullptr);
  EXPECT_EQ(sums_of(*trace).slices, 2U);
  std::map<std::string, std::uint64_t> noted;
  for (const Diagnostic& one : work->diagnostics.all()) noted[one.id] = one.count;
  EXPECT_EQ(noted["chrome.malformed_event"], 3U);
  EXPECT_EQ(noted["chrome.no_time"], 1U);
  EXPECT_EQ(noted["chrome.cut_off"], 1U);
}

const char* const kSmall =
    R"({"traceEvents":[{"ph":"M","name":"process_name","pid":1,"args":{"name":"rank 7"}},
{"ph":"B","name":"main","pid":1,"tid":1,"ts":0},{"ph":"X","name":"f \u00e9","cat":"c","pid":1,"tid":1,"ts":1,"dur":3.5},
{"ph":"C","name":"mem","pid":1,"ts":2,"args":{"used":5}},{"ph":"b","cat":"io","name":"read","id":1,"pid":1,"tid":1,"ts":1},
{"ph":"s","id":"7","cat":"x","name":"y","pid":1,"tid":1,"ts":2},{"ph":"f","id":"7","cat":"x","name":"y","bp":"e","pid":1,"tid":1,"ts":3},
{"ph":"e","cat":"io","name":"read","id":1,"pid":1,"tid":1,"ts":9},{"ph":"E","pid":1,"tid":1,"ts":10}],"displayTimeUnit":"ns"})";

TEST(Chrome, CutAnywhereItReadsWhatIsThere) {
  const std::string text = kSmall;
  std::uint64_t most = 0;
  for (std::size_t size = 0; size <= text.size(); ++size) {
    auto dataset = open_source(Source::of(Blob::own("cut", text.substr(0, size))), make_work(), "chrome");
    ASSERT_TRUE(dataset.ok());
    auto trace = (*dataset)->trace();
    if (!trace.ok()) {
      EXPECT_FALSE(trace.error().what().empty());
      continue;
    }
    const auto sums = sums_of(**trace);
    EXPECT_GE(sums.slices, most);
    most = sums.slices;
  }
  EXPECT_EQ(most, 3U);
}

TEST(Chrome, FlippedBitsNeverCrash) {
  std::mt19937 random(7);
  for (int i = 0; i < 400; ++i) {
    std::string text = kSmall;
    for (int k = 0; k < 3; ++k) text[random() % text.size()] ^= static_cast<char>(1 << random() % 8);
    auto dataset = open_source(Source::of(Blob::own("flipped", text)), make_work(), "chrome");
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

TEST(Chrome, RanksInNamesAreRanks) {
  DatasetPtr dataset;
  const auto trace = read_text(kSmall, "chrome", dataset);
  ASSERT_NE(trace, nullptr);
  const SystemTree& system = trace->definitions().system;
  EXPECT_EQ(system.nodes[system.group_of(LocationId(0)).index()].rank, 7);
}

// Everything that a trace of MPI has comes back: calls, messages, collectives, markers, at the same times.
TEST(Chrome, WhatIsWrittenIsReadAgain) {
  auto ring = open_dataset(FATHOM_SOURCE_DIR "/examples/ring/ring.meta", make_work());
  ASSERT_TRUE(ring.ok());
  TemporaryDirectory scratch;
  const Format& chrome = **find_format("chrome");
  ASSERT_TRUE(chrome.write(**ring, scratch / "ring.json", {}).ok());
  auto again = open_dataset(scratch / "ring.json", make_work());
  ASSERT_TRUE(again.ok());
  EXPECT_EQ((*again)->format().name, "chrome");
  auto before = (*ring)->trace();
  auto after = (*again)->trace();
  ASSERT_TRUE(before.ok() && after.ok());
  ASSERT_EQ((*before)->location_count(), (*after)->location_count());
  const auto texts = [](const Trace& trace) {
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < trace.location_count(); ++i) {
      auto stream = trace.open(LocationId(i), {});
      EventCursor cursor(std::move(*stream));
      while (const Event* e = cursor.next()) {
        if (e->kind == EventKind::complete) continue;
        const bool moves = e->kind == EventKind::send || e->kind == EventKind::recv;
        lines.push_back(fmt::format("{} {} {} {} {} {} {}", i, e->time_ns, to_string(e->kind), trace.name(*e),
                                    moves ? e->peer : 0, moves ? e->tag : 0, moves ? e->bytes : 0));
      }
    }
    std::sort(lines.begin(), lines.end());
    return lines;
  };
  EXPECT_EQ(texts(**before), texts(**after));
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

// What floats beside the threads is no GPU that could idle, and no thread either.
TEST(Chrome, AsynchronousRowsAreTracks) {
  DatasetPtr dataset;
  const auto trace = read_text(R"([{"ph":"X","ts":0,"dur":9,"pid":1,"tid":1,"name":"run"},
                                   {"ph":"b","cat":"k","id":1,"ts":1,"pid":1,"tid":1,"name":"wait"},
                                   {"ph":"e","cat":"k","id":1,"ts":2,"pid":1,"tid":1,"name":"wait"}])",
                               "chrome", dataset, make_work());
  ASSERT_NE(trace, nullptr);
  const SystemTree& system = trace->definitions().system;
  ASSERT_EQ(system.location_count(), 2U);
  EXPECT_TRUE(is_cpu(system, LocationId(0)));
  EXPECT_FALSE(is_cpu(system, LocationId(1)) || is_gpu(system, LocationId(1)));
}

// Also where nothing is known of what it means, and for both formats of such viewers.
TEST(Chrome, WhatAMarkerTellsIsWritten) {
  test::MadeTrace trace;
  const auto plain = trace.marker("plain", MarkerMeaning::none);
  trace.add(EventKind::marker, 1000, plain);
  Event& event = trace.add(EventKind::marker, 2000, plain);
  event.value = 41;
  event.bytes = 42;
  event.peer = 43;
  event.tag = 44;
  TemporaryDirectory scratch;
  ASSERT_TRUE(write_trace(trace, scratch / "m.json", make_work()).ok());
  const auto text = open_file(scratch / "m.json", make_work());
  ASSERT_TRUE(text.ok());
  const std::string_view args = R"("args":{"value":41,"bytes":42,"peer":43,"tag":44}})";
  EXPECT_NE(text->text().find(args), std::string_view::npos) << text->text();
  EXPECT_EQ(text->text().find("\"value\":0"), std::string_view::npos);
  ASSERT_TRUE(perfetto::write_trace(trace, scratch / "m.pftrace", make_work()).ok());
  const auto packets = open_file(scratch / "m.pftrace", make_work());
  ASSERT_TRUE(packets.ok());
  for (const char* name : {"value", "bytes", "peer", "tag"}) {
    EXPECT_NE(packets->text().find(name), std::string_view::npos) << name;
  }
}

}  // namespace
}  // namespace fathom::chrome
