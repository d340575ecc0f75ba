#include <gtest/gtest.h>

#include <fstream>

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
  EXPECT_EQ(defs.system.location_label(LocationId(0)), "3.0.1");
  EXPECT_EQ(defs.regions[0].file, "m.c");
  EXPECT_EQ(defs.regions[0].end_line, 17);
  EXPECT_EQ(*find_attribute(defs.attributes, "a & b"), "1\n2");
  std::set<std::string> ids;
  for (const Diagnostic& one : work->diagnostics.all()) ids.insert(one.id);
  EXPECT_EQ(ids, (std::set<std::string>{"tau.parameters", "tau.markers"}));
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

TEST(Tau, PackedProfilesAreRefusedWithWhatToDo) {
  const auto refused = open_source(Source::of(Blob::own("x.ppk", std::string("\0P\0P\0K\0\0\0\2", 10))), make_work());
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().hint().find("paraprof --dump"), std::string::npos) << refused.error().hint();
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
