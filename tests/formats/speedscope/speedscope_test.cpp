#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/execution.hpp"
#include "formats/slice_traces.hpp"
#include "formats/speedscope/writer.hpp"
#include "profile/profile.hpp"
#include "temporary_directory.hpp"
#include "trace/made_trace.hpp"

namespace fathom::speedscope {
namespace {

std::filesystem::path folder() { return std::filesystem::path(FATHOM_SHARED_DATA) / "elsewhere"; }

// Own time per name: of a trace what is not in slices inside, of a profile what contexts have of their own.
std::map<std::string, double> own_of(Dataset& dataset) {
  auto profile = dataset.profile();
  EXPECT_TRUE(profile.ok());
  if (!profile.ok()) return {};
  const MetricId time = (*profile)->defs().find_metric("time");
  return test::own_by_region(**profile, time.valid() ? time : MetricId(0));
}

TEST(Speedscope, AgreesWithTheReferenceReader) {
  if (!std::filesystem::exists(folder())) GTEST_SKIP() << "no shared data";
  for (const char* name :
       {"0.0.1_simple.speedscope.json", "0.1.2_simple-sampled.speedscope.json", "0.6.0_two-sampled.speedscope.json"}) {
    SCOPED_TRACE(name);
    std::ifstream in(folder() / "expected" / (std::string("speedscope_") + name + ".json"));
    const auto expected = nlohmann::json::parse(in);
    auto dataset = open_dataset(folder() / "speedscope" / name, make_work());
    ASSERT_TRUE(dataset.ok()) << dataset.error().text();
    EXPECT_EQ((*dataset)->format().name, "speedscope");
    std::map<std::string, double> wanted;
    const bool evented = expected["profiles"][0]["type"] == "evented";
    for (const auto& profile : expected["profiles"]) {
      for (const auto& pair : profile["self"]) wanted[pair[0].get<std::string>()] += pair[1].get<double>();
    }
    const auto own = own_of(**dataset);
    for (const auto& [frame, value] : wanted) {
      // Units of nothing are nanoseconds at the level of traces.
      EXPECT_NEAR(own.count(frame) > 0 ? own.at(frame) : 0, evented ? value * 1e-9 : value, 1e-12) << frame;
    }
  }
}

TEST(Speedscope, WhatTheImporterRefusesIsToldAndTheRestIsUsed) {
  if (!std::filesystem::exists(folder())) GTEST_SKIP() << "no shared data";
  const auto noted = [&](const char* name) {
    const Work work = make_work();
    auto dataset = open_dataset(folder() / "speedscope" / name, work);
    EXPECT_TRUE(dataset.ok());
    auto trace = (*dataset)->trace();
    EXPECT_TRUE(trace.ok());
    std::map<std::string, std::uint64_t> ids;
    for (const Diagnostic& one : work->diagnostics.all()) ids[one.id] = one.count;
    return ids;
  };
  EXPECT_EQ(noted("invalid_incomplete-trace.json")["trace.unfinished"], 1U);
  EXPECT_EQ(noted("invalid_out-of-order-events.json")["trace.closed_early"], 1U);
}

TEST(Speedscope, WhatIsNotClosedLastsUntilTheEndOfTheProfile) {
  const auto sums = [](const char* end, std::uint64_t told) {
    const Work work = make_work();
    DatasetPtr dataset;
    const auto trace = test::read_text(
        fmt::format(
            R"({{"shared":{{"frames":[{{"name":"a"}},{{"name":"b"}},{{"name":"c"}}]}},"profiles":[{{)"
            R"("type":"evented","name":"p","unit":"microseconds","startValue":0{},"events":[)"
            R"({{"type":"O","frame":0,"at":0}},{{"type":"O","frame":1,"at":2}},{{"type":"O","frame":2,"at":3}},)"
            R"({{"type":"C","frame":2,"at":5}}]}}]}})",
            end),
        "speedscope", dataset, work);
    EXPECT_NE(trace, nullptr);
    EXPECT_EQ(work->diagnostics.all().size(), 1U);
    EXPECT_EQ(work->diagnostics.all()[0].id, "trace.unfinished");
    EXPECT_EQ(work->diagnostics.all()[0].count, told);
    std::vector<std::int64_t> out;
    const auto stream = trace->open(LocationId(0), {});
    std::vector<Event> events(64);
    const std::size_t count = (*stream)->next(events).value();
    for (std::size_t i = 0; i < count; ++i) {
      if (events[i].kind == EventKind::leave) out.push_back(events[i].time_ns);
    }
    return out;
  };
  EXPECT_EQ(sums(R"(,"endValue":9)", 2), (std::vector<std::int64_t>{5000, 9000, 9000}));
  // An end before the last event is none.
  EXPECT_EQ(sums(R"(,"endValue":4)", 2), (std::vector<std::int64_t>{5000}));
  EXPECT_EQ(sums("", 2), (std::vector<std::int64_t>{5000}));
}

TEST(Speedscope, TracesAreWrittenAndReadAgain) {
  auto ring = open_dataset(FATHOM_SOURCE_DIR "/examples/ring/ring.meta", make_work());
  ASSERT_TRUE(ring.ok());
  TemporaryDirectory scratch;
  ASSERT_TRUE((*find_format("speedscope"))->write(**ring, scratch / "ring.speedscope.json", {}).ok());
  auto again = open_dataset(scratch / "ring.speedscope.json", make_work());
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_EQ((*again)->format().name, "speedscope");
  auto before = (*ring)->trace();
  auto after = (*again)->trace();
  ASSERT_TRUE(before.ok() && after.ok());
  const auto a = test::sums_of(**before);
  const auto b = test::sums_of(**after);
  EXPECT_EQ(a.slices, b.slices);
  for (const auto& [name, sums] : b.names) {
    EXPECT_EQ(a.names.at(name).count, sums.count) << name;
    EXPECT_EQ(a.names.at(name).total_ns, sums.total_ns) << name;
  }
}

// A trace that counts how often it is read.
class ReadTrace : public test::MadeTrace {
 public:
  [[nodiscard]] Result<std::unique_ptr<EventStream>> open(LocationId location, TimeWindow window) const override {
    ++reads;
    return test::MadeTrace::open(location, window);
  }
  mutable int reads = 0;
};

// However many channels there are, a location is read once to write it.
TEST(Speedscope, ValuesOfEachChannelAreAProfile) {
  constexpr std::uint32_t kChannels = 50;
  ReadTrace trace;
  const auto work = trace.region("work");
  for (std::uint32_t c = 0; c < kChannels; ++c) (void)trace.channel(fmt::format("c{}", c), {{1, "one"}, {2, "two"}});
  const auto state = [&](std::int64_t time, std::uint32_t channel, std::optional<std::int64_t> value) {
    Event& event = trace.add(EventKind::state, time, channel);
    event.has_value = value.has_value();
    event.value = value.value_or(0);
  };
  trace.add(EventKind::enter, 0, work);
  for (std::uint32_t c = 0; c < kChannels; ++c) state(10 + c, c, 1);
  for (std::uint32_t c = 0; c < kChannels; ++c) state(100 + 2 * c, c, 2);
  for (std::uint32_t c = 0; c < kChannels; c += 2) state(300 + c, c, {});
  trace.add(EventKind::leave, 500, work);
  trace.reads = 0;
  TemporaryDirectory scratch;
  const auto file = scratch / "c.speedscope.json";
  ASSERT_TRUE(write_trace(trace, file, make_work()).ok());
  EXPECT_LE(trace.reads, 2);  // once for the span
  auto again = open_dataset(file, make_work());
  ASSERT_TRUE(again.ok()) << again.error().text();
  const auto read = (*again)->trace().value();
  ASSERT_EQ(read->location_count(), 1U + kChannels);
  for (std::uint32_t c = 0; c < kChannels; ++c) {
    EXPECT_EQ(read->definitions().system.location(LocationId(1 + c)).name, fmt::format("thread 0: c{}", c));
    EventCursor cursor(read->open(LocationId(1 + c), {}).value());
    std::vector<std::pair<std::int64_t, std::string>> seen;
    while (const Event* event = cursor.next()) {
      seen.emplace_back(event->time_ns, event->kind == EventKind::enter ? std::string(read->name(*event)) : "");
    }
    const std::int64_t begin = 10 + c;
    const std::int64_t change = 100 + 2 * c;
    const std::int64_t end = c % 2 == 0 ? 300 + c : 500;
    const std::vector<std::pair<std::int64_t, std::string>> expected{
        {begin, "one"}, {change, ""}, {change, "two"}, {end, ""}};
    EXPECT_EQ(seen, expected) << c;
  }
}

TEST(Speedscope, ProfilesAreWrittenAndReadAgain) {
  auto stencil = open_dataset(FATHOM_SOURCE_DIR "/examples/stencil.cubex", make_work());
  ASSERT_TRUE(stencil.ok());
  TemporaryDirectory scratch;
  ASSERT_TRUE((*find_format("speedscope"))->write(**stencil, scratch / "s.speedscope.json", {}).ok());
  auto again = open_dataset(scratch / "s.speedscope.json", make_work());
  ASSERT_TRUE(again.ok()) << again.error().text();
  const auto a = own_of(**stencil);
  const auto b = own_of(**again);
  ASSERT_FALSE(b.empty());
  for (const auto& [name, value] : b) EXPECT_NEAR(a.at(name) * 1e9, value, 100) << name;  // nanoseconds
}

TEST(Speedscope, WholeMillisecondsAreWrittenAsSuch) {
  const TemporaryDirectory scratch;
  const auto dataset = open_source(
      Source::of(Blob::own("x.callgrind", std::string("events: Time_(ms)\nfl=a.c\nfn=main\n1 7\n"))), make_work());
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  ASSERT_TRUE((*find_format("speedscope"))->write(**dataset, scratch / "out.speedscope.json", {}).ok());
  std::ifstream in(scratch / "out.speedscope.json");
  const auto written = nlohmann::json::parse(in);
  EXPECT_EQ(written["profiles"][0]["unit"], "milliseconds");
  EXPECT_EQ(written["profiles"][0]["weights"], nlohmann::json({7}));
}

TEST(Speedscope, ATotalThatIsTooLargeIsTheLargest) {
  const TemporaryDirectory scratch;
  const auto dataset = open_source(
      Source::of(Blob::own("x.folded", std::string("a 9223372036854775807\nb 9223372036854775807\n"))), make_work());
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  ASSERT_TRUE((*find_format("speedscope"))->write(**dataset, scratch / "out.speedscope.json", {}).ok());
  std::ifstream in(scratch / "out.speedscope.json");
  const auto written = nlohmann::json::parse(in);
  EXPECT_EQ(written["profiles"][0]["weights"].size(), 2U);
  EXPECT_EQ(written["profiles"][0]["endValue"], INT64_MAX);
}

TEST(Speedscope, ProfilesMayCountInDifferentUnits) {
  const std::string head =
      R"({"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[{"name":"a"}]},"profiles":[)";
  const auto profile = [](const char* unit, const char* weights) {
    return fmt::format(
        R"({{"type":"sampled","name":"p","unit":"{}","startValue":0,"endValue":1,"samples":[[0]],"weights":{}}})", unit,
        weights);
  };
  const Work work = make_work();
  auto dataset = open_source(
      Source::of(Blob::own("x", head + profile("milliseconds", "[3]") + "," + profile("seconds", "[2]") + "," +
                                    profile("bytes", "[7]") + "," + profile("none", "[5, 6]") + "]}")),
      work);
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  const auto made = (*dataset)->profile();
  ASSERT_TRUE(made.ok());
  const auto sum = [&](const char* metric) {
    const MetricId id = (*made)->defs().find_metric(metric);
    EXPECT_TRUE(id.valid()) << metric;
    return test::own_by_region(**made, id).at("a");
  };
  EXPECT_EQ(sum("time"), 2003);  // milliseconds
  EXPECT_EQ(sum("bytes"), 7);
  EXPECT_EQ(sum("weight"), 5);
  ASSERT_EQ(work->diagnostics.all().size(), 1U);
  EXPECT_EQ(work->diagnostics.all()[0].id, "speedscope.malformed");  // a weight of no sample
}

// Long lists are read piece by piece in the usual spelling, and from where the spelling is another by a JSON parser:
// whatever the place, each sample and event counts once.
TEST(Speedscope, AnySpellingAndNumberOfThreadsMakesTheSame) {
  constexpr int kCount = 60'000;
  const auto file = [](const std::string& profile) {
    return R"({"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[{"name":"a"},{"name":"b"},)"
           R"({"name":"c"}]},"profiles":[{"name":"p","unit":"nanoseconds","startValue":0,"endValue":1,)" +
           profile + "}]}";
  };
  for (const int odd : {-1, 0, 1, 30'000, kCount - 1}) {
    std::string samples, weights, events;
    for (int i = 0; i < kCount; ++i) {
      const char* const comma = i == 0 ? "" : ",";
      // a alone, a>b, a>b>c, a>c in turn; 1, 1.5, 2, 2.5, ... are exact.
      const char* const stacks[] = {"[0]", "[0,1]", "[0,1,2]", "[0,2]"};
      samples += comma + (i == odd ? "[ 0, 1e0]" : std::string(stacks[i % 4]));  // 1e0 is no whole number there
      weights += fmt::format("{}{}", comma, 1 + i % 5 * 0.5);
      const char type = i % 2 == 0 ? 'O' : 'C';
      const int frame = i / 2 % 3;
      events += comma;
      events += i == odd ? fmt::format(R"({{"at":{},"frame":{},"type":"{}","more":[]}})", i, frame, type)
                         : fmt::format(R"({{"type":"{}","at":{},"frame":{}}})", type, i, frame);
    }
    std::map<std::string, double> own;
    const char* const leaves[] = {"a", "b", "c", "c"};
    for (int i = 0; i < kCount; ++i) {
      if (i != odd) own[leaves[i % 4]] += 1 + i % 5 * 0.5;
    }
    for (const unsigned threads : {1U, 4U}) {
      SCOPED_TRACE(fmt::format("odd {}, {} threads", odd, threads));
      const Execution execution(threads);
      const ExecutionScope scope(execution);
      const Work work = make_work();
      const std::string sampled =
          file(R"("type":"sampled","weights":[)" + weights + R"(],"samples":[)" + samples + "]");
      auto dataset = open_source(Source::of(Blob::own("x", sampled)), work, "speedscope");
      ASSERT_TRUE(dataset.ok()) << dataset.error().text();
      EXPECT_EQ(own_of(**dataset), own);
      std::uint64_t left_out = 0;
      for (const Diagnostic& one : work->diagnostics.all()) left_out += one.count;
      EXPECT_EQ(left_out, odd < 0 ? 0U : 1U);
      DatasetPtr kept;
      const auto trace = test::read_text(file(R"("type":"evented","events":[)" + events + "]"), "speedscope", kept);
      ASSERT_NE(trace, nullptr);
      const auto sums = test::sums_of(*trace);
      EXPECT_EQ(sums.slices, kCount / 2U);
      for (const char* name : {"a", "b", "c"}) EXPECT_EQ(sums.names.at(name).total_ns, kCount / 6) << name;
    }
  }
}

// A frame that does not exist spoils the samples that have it, also where they begin as the one before.
TEST(Speedscope, SamplesWithFramesThatAreNoneAreLeftOut) {
  const auto text = [](const char* samples, const char* weights) {
    return fmt::format(
        R"({{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{{"frames":[{{"name":"a"}},{{"name":"b"}}]}},)"
        R"("profiles":[{{"type":"sampled","name":"p","unit":"none","startValue":0,"endValue":1,"samples":{},"weights":{}}}]}})",
        samples, weights);
  };
  const Work work = make_work();
  auto dataset = open_source(
      Source::of(Blob::own("x", text("[[0,7,1],[0,7,1],[0,7],[0],[0,1],[],[0,1,99999999]]", "[1,2,4,8,16,32,64]"))),
      work, "speedscope");
  ASSERT_TRUE(dataset.ok());
  EXPECT_EQ(own_of(**dataset), (std::map<std::string, double>{{"a", 8}, {"b", 16}, {"(idle)", 32}}));
  ASSERT_EQ(work->diagnostics.all().size(), 1U);
  EXPECT_EQ(work->diagnostics.all()[0].count, 4U);
  // What is no JSON is an error, wherever it stands.
  for (const char* samples : {"[[0],]", "[[0}]", "[[0],[01]]", "[[0],[1.]]", "[[0] [1]]", "[[0],[\"\xFF\"]]"}) {
    auto bad = open_source(Source::of(Blob::own("x", text(samples, "[1,2]"))), make_work(), "speedscope");
    EXPECT_TRUE(!bad.ok() || !(*bad)->profile().ok()) << samples;
  }
  for (const char* weights : {"[1,2,]", "[1,02]", "[1,2 3]"}) {
    auto bad = open_source(Source::of(Blob::own("x", text("[[0],[1]]", weights))), make_work(), "speedscope");
    ASSERT_TRUE(bad.ok());
    EXPECT_FALSE((*bad)->profile().ok()) << weights;
  }
}

TEST(Speedscope, CutAnywhereThereIsAnErrorWithAPlace) {
  const std::string text =
      R"({"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[{"name":"a"}]},)"
      R"("profiles":[{"type":"evented","name":"p","unit":"seconds","startValue":0,"endValue":1,)"
      R"("events":[{"type":"O","frame":0,"at":0},{"type":"C","frame":0,"at":1},{"type":"O","frame":9,"at":1}]}]})";
  for (std::size_t size = 0; size < text.size(); ++size) {
    auto dataset = open_source(Source::of(Blob::own("cut", text.substr(0, size))), make_work(), "speedscope");
    ASSERT_FALSE(dataset.ok()) << size;
    EXPECT_EQ(dataset.error().place().file, "cut");
  }
  const Work work = make_work();
  DatasetPtr dataset;
  const auto trace = test::read_text(text, "speedscope", dataset, work);
  ASSERT_NE(trace, nullptr);
  EXPECT_EQ(test::sums_of(*trace).names.at("a").total_ns, 1000000000);
  EXPECT_TRUE(work->diagnostics.defective());  // a frame that does not exist
}

}  // namespace
}  // namespace fathom::speedscope
