// What classic databases hold beside what their description names, or the other way round: it is told.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "formats/registry.hpp"
#include "io/output_file.hpp"
#include "made_classic_files.hpp"
#include "profile/views.hpp"
#include "temporary_directory.hpp"

namespace fathom::hpctoolkit {
namespace {

using Rows = std::vector<std::vector<double>>;

constexpr const char* kFiles =
    R"xml(<MetricDB i="2" n="CPU (I)" t="inclusive" db-glob="*.metric-db" db-id="0" db-num-metrics="2"/>
<MetricDB i="3" n="CPU (E)" t="exclusive" db-glob="*.metric-db" db-id="1" db-num-metrics="2"/>)xml";
constexpr const char* kTree = R"xml(<M n="0" v="30"/><PF i="2" s="1" n="1" lm="1" f="1" l="3"><M n="0" v="30"/>
<S i="3" s="2" l="4"><M n="0" v="10"/></S><S i="4" s="3" l="5"><M n="0" v="20"/></S></PF>)xml";
const Rows kRows = {{30, 0}, {30, 30}, {10, 10}, {20, 20}};

std::string description(const std::string& tree = kTree, const std::string& files = kFiles) {
  return R"xml(<HPCToolkitExperiment version="2.2"><Header n="made"/><SecCallPathProfile i="0" n="made"><SecHeader>
<MetricTable><Metric i="0" n="CPU:Sum (I)" v="final" t="inclusive" show="1"/></MetricTable><MetricDBTable>)xml" +
         files + R"xml(</MetricDBTable><LoadModuleTable><LoadModule i="1" n="a.out"/></LoadModuleTable><FileTable>
<File i="1" n="a.c"/></FileTable><ProcedureTable><Procedure i="1" n="main"/></ProcedureTable></SecHeader>
<SecCallPathProfileData>)xml" +
         tree + "</SecCallPathProfileData></SecCallPathProfile></HPCToolkitExperiment>\n";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

// Ids of what is told, with their counts, and the inclusive total of the metric of the files.
struct Outcome {
  std::vector<std::pair<std::string, std::uint64_t>> told;
  double total = 0;
};
Outcome outcome(const std::string& xml, const Rows& rows, const std::string& metric = "CPU") {
  const TemporaryDirectory directory;
  EXPECT_TRUE(write_file(directory / "experiment.xml", xml).ok());
  if (!rows.empty()) {
    EXPECT_TRUE(write_file(directory / "made-000000-000-a8c00270-1-0.metric-db", metric_file(rows)).ok());
  }
  const Work work = make_work();
  const auto dataset = open_dataset(directory.path(), work);
  EXPECT_TRUE(dataset.ok()) << dataset.error().text();
  if (!dataset.ok()) return {};
  const ProfilePtr profile = *(*dataset)->profile();
  Outcome out;
  for (const Diagnostic& one : work->diagnostics.all()) out.told.emplace_back(one.id, one.count);
  const MetricId id = profile->defs().find_metric(metric);
  if (!id.valid()) return out;
  const auto total = metric_total(*profile, id, {});
  out.total = total.ok() ? total->scalar() : -1;
  return out;
}

using Told = std::vector<std::pair<std::string, std::uint64_t>>;

TEST(HpctoolkitClassicLeftOut, NothingIsToldOfASoundDatabase) {
  const Outcome sound = outcome(description(), kRows);
  EXPECT_EQ(sound.told, Told());
  EXPECT_EQ(sound.total, 30);
}

TEST(HpctoolkitClassicLeftOut, ColumnsAndRowsOfFilesThatTheDescriptionLacks) {
  Rows wider = kRows;
  for (auto& row : wider) row.push_back(7);
  EXPECT_EQ(outcome(description(), wider).told, (Told{{"hpctoolkit.metric_db", 4}}));
  Rows longer = kRows;
  longer.push_back({5, 0});
  longer.push_back({0, 0});
  EXPECT_EQ(outcome(description(), longer).told, (Told{{"hpctoolkit.metric_db", 1}}));
}

TEST(HpctoolkitClassicLeftOut, ColumnsAndRowsThatFilesLack) {
  EXPECT_EQ(outcome(description(), {{30}, {30}, {10}, {20}}).told, (Told{{"hpctoolkit.metric_db", 1}}));
  EXPECT_EQ(outcome(description(), {{30, 0}, {30, 30}}).told, (Told{{"hpctoolkit.metric_db", 1}}));
}

TEST(HpctoolkitClassicLeftOut, FilesThatTheDescriptionDoesNotName) {
  EXPECT_EQ(outcome(description(kTree, ""), kRows).told, (Told{{"hpctoolkit.metric_db", 1}}));
  EXPECT_EQ(
      outcome(description(kTree, "<MetricDB i=\"2\" n=\"CPU (I)\" db-glob=\"1.*.metric-db\" db-id=\"0\"/>"), kRows)
          .told,
      (Told{{"hpctoolkit.metric_db", 1}}));
  // The exclusive column alone is not named.
  EXPECT_EQ(outcome(replaced(description(), "db-id=\"1\"", "db-id=\"0\""), kRows).told,
            (Told{{"hpctoolkit.metric_db", 3}}));
}

TEST(HpctoolkitClassicLeftOut, ValuesAndElementsOfTheTree) {
  const std::string columns = "CPU:Sum (all threads)";
  // Of a metric that is not declared.
  EXPECT_EQ(outcome(description(replaced(kTree, "<S i=\"3\"", "<M n=\"9\" v=\"1\"/><S i=\"3\""), ""), {}).told,
            (Told{{"hpctoolkit.xml_value", 1}}));
  // A second one: the first counts.
  const Outcome twice =
      outcome(description(replaced(kTree, "v=\"30\"/>\n", "v=\"30\"/><M n=\"0\" v=\"40\"/>\n"), ""), {}, columns);
  EXPECT_EQ(twice.told, (Told{{"hpctoolkit.xml_value", 1}}));
  EXPECT_EQ(twice.total, 30);
  // An element that nobody knows: its value is not that of the element around it.
  const Outcome unknown = outcome(description(replaced(replaced(kTree, "<S i=\"4\"", "<B i=\"4\""),
                                                       "<M n=\"0\" v=\"20\"/></S>", "<M n=\"0\" v=\"20\"/></B>"),
                                              ""),
                                  {}, columns);
  EXPECT_EQ(unknown.told, (Told{{"hpctoolkit.xml_element", 1}, {"hpctoolkit.xml_value", 1}}));
  EXPECT_EQ(unknown.total, 30);
  // The id of another element.
  EXPECT_EQ(outcome(description(replaced(kTree, "<S i=\"4\"", "<S i=\"3\""), ""), {}).told,
            (Told{{"hpctoolkit.context_id", 1}}));
  // An entry that a table does not have.
  EXPECT_EQ(outcome(description(replaced(kTree, "n=\"1\" lm=\"1\"", "n=\"5\" lm=\"8\""), ""), {}).told,
            (Told{{"hpctoolkit.xml_reference", 2}}));
}

}  // namespace
}  // namespace fathom::hpctoolkit
