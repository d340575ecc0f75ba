#include <gtest/gtest.h>

#include <bit>
#include <fstream>
#include <random>

#include "formats/registry.hpp"
#include "formats/tau/tau_format.hpp"
#include "profile/compute.hpp"
#include "temporary_directory.hpp"

namespace fathom {
namespace {

std::string file_text(const std::string& metric, std::initializer_list<const char*> functions,
                      std::initializer_list<const char*> events = {}) {
  std::string out = std::to_string(functions.size()) + " templated_functions_MULTI_" + metric + "\n";
  out += "# Name Calls Subrs Excl Incl ProfileCalls # <metadata><attribute><name>a &amp; b</name><value>1\n2</value>";
  out += "</attribute></metadata>\n";
  for (const char* one : functions) out += std::string(one) + "\n";
  out += "0 aggregates\n" + std::to_string(events.size()) + " userevents\n# eventname numevents max min mean sumsqr\n";
  for (const char* one : events) out += std::string(one) + "\n";
  return out;
}

void put(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

std::map<std::string, std::string> values(const Profile& profile, std::string_view metric, Flavour flavour) {
  std::map<std::string, std::string> out;
  const MetricId id = profile.defs().find_metric(metric);
  EXPECT_TRUE(id.valid()) << metric;
  Selection selection;
  selection.flavour = std::move(flavour);
  selection.locations = all_locations(profile.defs());
  selection.aggregate = true;
  const auto cells = compute(profile, id, selection);
  EXPECT_TRUE(cells.ok());
  for (std::size_t row = 0; row < cells->rows(); ++row) {
    if (!cells->is_zero(row, 0)) out[profile.defs().path(ContextId(row))] = cells->at(row, 0).text();
  }
  return out;
}
using Values = std::map<std::string, std::string>;
const Flavour kOwn{Flavour::Kind::exclusive, {}};
const Flavour kTotal{Flavour::Kind::inclusive, {}};

TEST(Tau, PathsMakeTheTreeInEveryMetric) {
  const TemporaryDirectory folder;
  const std::initializer_list<const char*> time = {
      R"("main() C [{m.c} {5,1}-{17,1}]  " 1 3 10 100 0 GROUP="TAU_DEFAULT" )",
      R"("f "quoted"" 2 1 40 90 0 GROUP="TAU_USER" )",
      R"("main() C [{m.c} {5,1}-{17,1}]   => f "quoted"" 2 1 40 90 0 GROUP="TAU_CALLPATH" )",
      R"("MPI_Send() " 1.2e+01 0 5e+01 50 0 GROUP="MPI" )",
      R"("main() C [{m.c} {5,1}-{17,1}]   => f "quoted" => MPI_Send() " 12 0 50 50 0 GROUP="TAU_CALLPATH" )",
      R"("f "quoted" [ <n> = <3> ]" 2 1 40 90 0 GROUP="TAU_PARAM" )"};
  put(folder / "MULTI__TIME/profile.3.0.1",
      file_text("TIME", time,
                {R"("Message size : main() C [{m.c} {5,1}-{17,1}]   => f "quoted"" 4 8 2 5 120)",
                 R"("Heap [GROUP=MAX_MARKER]" 1 1 1 1 1)"}));
  put(folder / "MULTI__PAPI_FP_OPS/profile.3.0.1", file_text("PAPI_FP_OPS", time));
  put(folder / "MULTI__BGP_TIMERS/profile.3.0.1", file_text("BGP Timers", time));
  const Work work = make_work();
  const auto dataset = open_dataset(folder.path(), work);
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  EXPECT_EQ((*dataset)->format().name, "tau");
  const auto profile = (*dataset)->profile();
  ASSERT_TRUE(profile.ok()) << profile.error().text();
  const Definitions& defs = (*profile)->defs();
  const std::string f = "main()->f \"quoted\"";
  for (const char* metric : {"TIME", "PAPI_FP_OPS"}) {
    EXPECT_EQ(values(**profile, metric, kOwn), (Values{{"main()", "10"}, {f, "40"}, {f + "->MPI_Send()", "50"}}));
    EXPECT_EQ(values(**profile, metric, kTotal), (Values{{"main()", "100"}, {f, "90"}, {f + "->MPI_Send()", "50"}}));
  }
  EXPECT_EQ(values(**profile, "visits", kOwn), (Values{{"main()", "1"}, {f, "2"}, {f + "->MPI_Send()", "12"}}));
  EXPECT_EQ(values(**profile, "Message size", kOwn), (Values{{f, "20"}}));
  EXPECT_EQ(values(**profile, "Message size (minimum)", {}).at(f), "2");
  EXPECT_EQ(defs.metric(defs.find_metric("TIME")).unit, "usec");
  EXPECT_EQ(defs.metric(defs.find_metric("BGP Timers")).unit, "usec");
  EXPECT_EQ(defs.system.location_label(LocationId(0)), "3.0.1");
  EXPECT_EQ(defs.regions[0].file, "m.c");
  EXPECT_EQ(defs.regions[0].end_line, 17);
  EXPECT_EQ(*find_attribute(defs.attributes, "a & b"), "1\n2");
  std::set<std::string> ids;
  for (const Diagnostic& one : work->diagnostics.all()) ids.insert(one.id);
  EXPECT_EQ(ids, (std::set<std::string>{"tau.parameters", "tau.markers"}));
}

// What is above the end of a path is looked up as a path, but not where that is none.
TEST(Tau, OfTwoArrowsThatShareABlankTheFirstCounts) {
  const TemporaryDirectory folder;
  put(folder / "profile.0.0.0",
      file_text("TIME",
                {R"("a" 1 1 1 9 0 GROUP="TAU_USER" )", R"("a =>" 1 0 2 2 0 GROUP="TAU_USER" )",
                 R"("a => b" 1 0 3 3 0 GROUP="TAU_CALLPATH" )", R"("a => => b" 1 0 4 4 0 GROUP="TAU_CALLPATH" )",
                 R"("a => b => c" 1 0 5 5 0 GROUP="TAU_CALLPATH" )"}));
  const auto dataset = open_dataset(folder.path(), make_work());
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  const auto profile = (*dataset)->profile();
  ASSERT_TRUE(profile.ok());
  EXPECT_EQ(values(**profile, "TIME", kOwn),
            (Values{{"a", "1"}, {"a =>", "2"}, {"a->b", "3"}, {"a->=> b", "4"}, {"a->b->c", "5"}}));
}

// A function without a name is at the beginning, in the middle or at the end of a path like any other.
TEST(Tau, PathsOfFunctionsWithoutAName) {
  const TemporaryDirectory folder;
  put(folder / "profile.0.0.0",
      file_text("TIME",
                {R"("" 1 2 1 60 0 GROUP="TAU_USER" )", R"("b" 2 1 5 50 0 GROUP="TAU_USER" )",
                 R"(" => b" 2 1 5 50 0 GROUP="TAU_CALLPATH" )", R"("c" 1 0 40 40 0 GROUP="TAU_USER" )",
                 R"(" => b => c" 1 0 40 40 0 GROUP="TAU_CALLPATH" )", R"("=> d" 1 0 7 7 0 GROUP="TAU_USER" )"}));
  put(folder / "profile.0.0.1",
      file_text("TIME", {R"("a" 1 1 2 5 0 GROUP="TAU_USER" )", R"("a => " 1 0 3 3 0 GROUP="TAU_CALLPATH" )",
                         R"("" 1 0 3 3 0 GROUP="TAU_USER" )"}));
  const auto dataset = open_dataset(folder.path(), make_work());
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  const auto profile = (*dataset)->profile();
  ASSERT_TRUE(profile.ok());
  EXPECT_EQ(values(**profile, "TIME", kOwn),
            (Values{{"", "1"}, {"b", "5"}, {"b->c", "40"}, {"=> d", "7"}, {"a", "2"}, {"a->", "3"}}));
  const Definitions& defs = (*profile)->defs();
  const auto names_above = [&](std::string_view name) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < defs.contexts.size(); ++i) {
      if (defs.region_of(ContextId(i)).name != name) continue;
      for (ContextId at = defs.contexts[ContextId(i)].parent; at.valid(); at = defs.contexts[at].parent) {
        names.push_back(defs.region_of(at).name);
      }
    }
    return names;
  };
  EXPECT_EQ(names_above("c"), (std::vector<std::string>{"b", ""}));
  EXPECT_EQ(names_above(""), (std::vector<std::string>{"a"}));
  EXPECT_TRUE(names_above("=> d").empty());
}

TEST(Tau, SamplesDivideTheTimeOfTheirTimer) {
  const TemporaryDirectory folder;
  put(folder / "profile.0.0.0",
      file_text("TIME", {R"("main" 1 0 100 100 0 GROUP="TAU_DEFAULT" )",
                         R"("[CONTEXT] main" 9 0 90 90 0 GROUP="TAU_SAMPLE_CONTEXT" )",
                         R"("main => [CONTEXT] main" 9 0 90 90 0 GROUP="TAU_SAMPLE_CONTEXT|TAU_CALLPATH" )",
                         R"("[SAMPLE] f [{a.c} {7}]" 9 0 90 90 0 GROUP="TAU_SAMPLE" )",
                         R"("main => [CONTEXT] main => [SAMPLE] f [{a.c} {7}]" 9 0 90 90 0 GROUP="TAU_SAMPLE" )",
                         R"("main => [CONTEXT] main => [SUMMARY] f" 9 0 90 90 0 GROUP="TAU_SAMPLE" )"}));
  const auto dataset = open_dataset(folder.path(), make_work());
  ASSERT_TRUE(dataset.ok());
  const auto profile = (*dataset)->profile();
  ASSERT_TRUE(profile.ok());
  EXPECT_EQ(values(**profile, "TIME", kOwn), (Values{{"main", "100"}}));
  EXPECT_EQ(values(**profile, "TIME (samples)", kOwn), (Values{{"main->[CONTEXT] main->[SAMPLE] f", "90"}}));
}

// Counts of sections are what writers get wrong first: the lines themselves count.
// An event without a context is the sum over its contexts, which are timers: a colon alone makes none.
TEST(Tau, UserEventsInContextsCountOnce) {
  const TemporaryDirectory folder;
  put(folder / "profile.0.0.0",
      file_text("TIME",
                {R"("main  " 1 2 10 60 0 GROUP="TAU_DEFAULT" )", R"("open : it" 1 0 50 50 0 GROUP="TAU_USER" )",
                 R"("main   => open : it" 1 0 50 50 0 GROUP="TAU_CALLPATH" )"},
                {R"("bytes" 7 30 1 10 1300)", R"("bytes : main   => open : it" 4 20 5 12 700)",
                 R"("bytes : main  " 1 2 2 2 4)", R"("all : open : it" 2 9 3 6 90)", R"("all" 2 9 3 6 90)",
                 R"("Heap : Entry" 2 8 4 6 80)", R"("Heap : Entry : main" 1 4 4 4 16)"}));
  const auto dataset = open_dataset(folder.path(), make_work());
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  const auto profile = (*dataset)->profile();
  ASSERT_TRUE(profile.ok()) << profile.error().text();
  // 70 bytes in all, 48 in open : it, 2 in main, and 20 of which only the thread is known.
  EXPECT_EQ(values(**profile, "bytes", kOwn), (Values{{"main", "22"}, {"main->open : it", "48"}}));
  EXPECT_EQ(values(**profile, "bytes (count)", kOwn), (Values{{"main", "3"}, {"main->open : it", "4"}}));
  EXPECT_EQ(values(**profile, "bytes (sum of squares)", kOwn), (Values{{"main", "600"}, {"main->open : it", "700"}}));
  EXPECT_EQ(values(**profile, "all", kOwn), (Values{{"open : it", "12"}}));
  EXPECT_EQ(values(**profile, "Heap : Entry", kOwn), (Values{{"main", "12"}}));
  EXPECT_FALSE((*profile)->defs().find_metric("Heap").valid());
}

TEST(Tau, WrongCountsLoseNothing) {
  const auto open_text = [](std::string text, const Work& work) {
    return tau::format().open(Source::of(Blob::own("profile.0.0.0", std::move(text))), work);
  };
  const std::string lines =
      "# Name Calls Subrs Excl Incl ProfileCalls #\n\"a\" 1 0 1 1 0 GROUP=\"X\" \n"
      "\"b\" 1 0 2 2 0 GROUP=\"X\" \n";
  const std::string events = "# eventname numevents max min mean sumsqr\n\"e\" 2 3 1 2 10\n\"f\" 1 1 1 1 1\n";
  for (const char* count : {"1", "2", "5"}) {
    const Work work = make_work();
    const auto dataset = open_text(
        std::string(count) + " templated_functions\r\n" + lines + "0 aggregates\n1 userevents\n" + events, work);
    ASSERT_TRUE(dataset.ok());
    const auto profile = (*dataset)->profile();
    ASSERT_TRUE(profile.ok());
    EXPECT_EQ(values(**profile, "TIME", kOwn), (Values{{"a", "1"}, {"b", "2"}})) << count;
    EXPECT_EQ(values(**profile, "e", kOwn), (Values{{"b", "4"}})) << count;
    EXPECT_EQ(values(**profile, "f", kOwn), (Values{{"b", "1"}})) << count;
    const auto wrong = std::string_view(count) == "2" ? 1u : 2u;
    std::uint64_t told = 0;
    for (const Diagnostic& one : work->diagnostics.all()) told += one.id == "tau.count" ? one.count : 0;
    EXPECT_EQ(told, wrong) << count;
  }
}

// Sampling alone makes paths, too: below timers that have none.
TEST(Tau, PathsOfSamplesMakeNoTreeOfTimers) {
  const TemporaryDirectory folder;
  put(folder / "profile.0.0.0",
      file_text("TIME", {R"("main" 1 1 10 100 0 GROUP="TAU_DEFAULT" )", R"("f" 1 0 90 90 0 GROUP="TAU_USER" )",
                         R"("f => [CONTEXT] f" 9 0 0 80 0 GROUP="TAU_SAMPLE_CONTEXT|TAU_CALLPATH" )",
                         R"("f => [CONTEXT] f => [SAMPLE] g [{a.c} {7}]" 8 0 80 80 0 GROUP="TAU_SAMPLE" )"}));
  const auto dataset = open_dataset(folder.path(), make_work());
  ASSERT_TRUE(dataset.ok());
  const auto profile = (*dataset)->profile();
  ASSERT_TRUE(profile.ok());
  // Without paths what a function takes with all it calls cannot be added up along them.
  EXPECT_EQ(values(**profile, "TIME", kTotal), (Values{{"main", "10"}, {"f", "90"}}));
  EXPECT_EQ(values(**profile, "TIME", {Flavour::Kind::named, "inclusive"}), (Values{{"main", "100"}, {"f", "90"}}));
  EXPECT_EQ(values(**profile, "TIME (samples)", kOwn), (Values{{"f->[CONTEXT] f->[SAMPLE] g", "80"}}));
}

// What Java's DataOutputStream writes.
struct Packed {
  std::string text;
  Packed& number(std::uint64_t value, int bytes = 4) {
    for (int i = bytes - 1; i >= 0; --i) text.push_back(static_cast<char>(value >> (8 * i)));
    return *this;
  }
  Packed& real(double value) { return number(std::bit_cast<std::uint64_t>(value), 8); }
  Packed& word(std::string_view value) {
    number(value.size(), 2);
    text += value;
    return *this;
  }
};

// Two threads, two metrics, one call path, a user event; metadata of both and of one.
std::string packed_text(std::uint32_t needed = 1) {
  Packed block;
  block.number(0).number(1).word("Hostname").word("h");
  block.number(1).number(2).number(0).number(1).number(1).word("pid").word("77");
  Packed out;
  out.text = std::string("\0P\0P\0K", 6);
  out.number(2).number(needed).number(block.text.size() + 3);
  out.text += block.text + "new";
  out.number(2).word("Time").word("PAPI_FP_OPS");
  out.number(2).word("MPI").word("TAU_CALLPATH");
  out.number(3).word("main [{m.c} {5,1}-{17,1}]").number(0);
  out.word("MPI_Send()").number(1).number(0);
  out.word("main [{m.c} {5,1}-{17,1}] => MPI_Send()").number(2).number(0).number(1);
  out.number(1).word("Message size");
  out.number(2);
  for (const std::uint32_t thread : {1, 0}) {
    out.number(2).number(0).number(thread).number(3);
    out.number(0).real(1).real(2).real(10).real(30 + thread).real(5).real(9);
    out.number(1).real(2).real(0).real(20 + thread).real(20 + thread).real(4).real(4);
    out.number(2).real(2).real(0).real(20 + thread).real(20 + thread).real(4).real(4);
    out.number(thread);
    if (thread > 0) out.number(0).number(4).real(2).real(8).real(5).real(120);
  }
  return out.text;
}

TEST(Tau, PackedProfilesHaveAllThreadsAndMetrics) {
  const Work work = make_work();
  const auto dataset = open_source(Source::of(Blob::own("x.ppk", packed_text())), work);
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  EXPECT_EQ((*dataset)->format().name, "tau");
  const auto profile = (*dataset)->profile();
  ASSERT_TRUE(profile.ok());
  const Definitions& defs = (*profile)->defs();
  EXPECT_EQ(values(**profile, "Time", kOwn), (Values{{"main", "20"}, {"main->MPI_Send()", "41"}}));
  EXPECT_EQ(values(**profile, "Time", kTotal), (Values{{"main", "61"}, {"main->MPI_Send()", "41"}}));
  EXPECT_EQ(values(**profile, "PAPI_FP_OPS", kTotal), (Values{{"main", "18"}, {"main->MPI_Send()", "8"}}));
  EXPECT_EQ(values(**profile, "visits", kOwn), (Values{{"main", "2"}, {"main->MPI_Send()", "4"}}));
  EXPECT_EQ(values(**profile, "Message size", kOwn), (Values{{"main", "20"}}));
  EXPECT_EQ(values(**profile, "Message size (maximum)", {}).at("main"), "8");
  EXPECT_EQ(defs.metric(defs.find_metric("Time")).unit, "usec");
  EXPECT_EQ(defs.metric(defs.find_metric("PAPI_FP_OPS")).unit, "occ");
  EXPECT_EQ(defs.system.location_label(LocationId(0)), "2.0.0");
  EXPECT_EQ(*find_attribute(defs.system.location(LocationId(1)).attributes, "pid"), "77");
  EXPECT_EQ(*find_attribute(defs.attributes, "Hostname"), "h");
  EXPECT_EQ(defs.regions[1].paradigm, "mpi");
  EXPECT_TRUE(work->diagnostics.all().empty());
  std::string dumped;
  ASSERT_TRUE((*dataset)->dump({}, [&](std::string_view text) { return dumped += text, true; }).ok());
  EXPECT_NE(dumped.find("== profile.2.0.1 Time\n\"main [{m.c} {5,1}-{17,1}]\" 1 2 10 31 GROUP=\"\"\n"),
            std::string::npos)
      << dumped;
}

TEST(Tau, PackedProfilesThatBreakOffKeepTheThreadsBefore) {
  const std::string text = packed_text();
  std::set<std::size_t> threads;
  for (std::size_t length = 0; length < text.size(); ++length) {
    const Work work = make_work();
    const auto cut = open_source(Source::of(Blob::own("x.ppk", text.substr(0, length))), work);
    if (!cut.ok()) continue;
    const auto profile = (*cut)->profile();
    ASSERT_TRUE(profile.ok());
    threads.insert((*profile)->defs().system.location_count());
    EXPECT_EQ(work->diagnostics.all().front().id, "tau.cut_off") << length;
  }
  EXPECT_EQ(threads, std::set<std::size_t>{1});
  std::mt19937 random(5);
  for (int round = 0; round < 2000; ++round) {
    std::string flipped = text;
    flipped[random() % flipped.size()] ^= static_cast<char>(1U << random() % 8);
    const auto dataset = open_source(Source::of(Blob::own("x.ppk", flipped)), make_work());
    if (dataset.ok()) (void)(*dataset)->profile();
  }
  const auto newer = open_source(Source::of(Blob::own("x.ppk", packed_text(3))), make_work());
  ASSERT_FALSE(newer.ok());
  EXPECT_NE(newer.error().text().find("version 3"), std::string::npos) << newer.error().text();
}

// Nobody reads them here; what to do is said.
TEST(Tau, SnapshotsAreRefusedWithAWayOut) {
  const TemporaryDirectory folder;
  std::ofstream(folder / "snapshot.0.0.0") << "<profile_xml>\n\n<thread id=\"0.0.0.7\" node=\"0\" context=\"0\" "
                                              "thread=\"0\">\n</thread>\n</profile_xml>\n";
  for (const auto& path : {folder / "snapshot.0.0.0", folder / ""}) {
    const auto dataset = open_dataset(path, make_work());
    ASSERT_FALSE(dataset.ok());
    EXPECT_NE(dataset.error().text().find("snapshots of TAU"), std::string::npos) << dataset.error().text();
    EXPECT_NE(dataset.error().hint().find("paraprof -f snap --pack"), std::string::npos) << dataset.error().hint();
  }
  // Beside profiles they are left alone.
  std::ofstream(folder / "profile.0.0.0") << "1 templated_functions\n# Name Calls Subrs Excl Incl ProfileCalls #\n"
                                             "\"main\" 1 0 5 5 0 GROUP=\"A\" \n0 aggregates\n";
  EXPECT_TRUE(open_dataset(folder / "", make_work()).ok());
}

TEST(Tau, DamagedFilesAreLeftOutOrCut) {
  const TemporaryDirectory folder;
  const std::string text = file_text("TIME", {R"("a" 1 0 1 1 0 GROUP="X" )", R"("b" 1 0 2 2 0 GROUP="X" )"});
  put(folder / "profile.0.0.0", text);
  put(folder / "profile.1.0.0", "nothing of TAU\n");
  const Work work = make_work();
  const auto dataset = open_dataset(folder.path(), work);
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  EXPECT_EQ((*(*dataset)->profile())->defs().system.location_count(), 1u);
  EXPECT_EQ(work->diagnostics.all().front().id, "tau.unreadable");
  for (std::size_t length = 0; length < text.size(); ++length) {
    const auto cut = tau::format().open(Source::of(Blob::own("profile.0.0.0", text.substr(0, length))), make_work());
    if (cut.ok()) {
      EXPECT_TRUE((*cut)->profile().ok());
    } else {
      EXPECT_FALSE(cut.error().place().file.empty());
    }
  }
  const auto huge = tau::format().open(
      Source::of(Blob::own("profile.0.0.0", std::string("99999999999999 templated_functions\n# x #\n"))), make_work());
  EXPECT_TRUE(huge.ok());
}

}  // namespace
}  // namespace fathom
