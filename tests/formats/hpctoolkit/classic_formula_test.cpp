// Columns of classic databases that are shown through a formula: with files per thread, and from the XML alone.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "formats/registry.hpp"
#include "io/output_file.hpp"
#include "made_classic_files.hpp"
#include "profile/compute.hpp"
#include "profile/profile.hpp"
#include "temporary_directory.hpp"

namespace fathom::hpctoolkit {
namespace {

// Rows of the root, of main and of its line; inclusive and exclusive.
std::string metric_file(double main, double line) {
  return hpctoolkit::metric_file({{main, 0}, {main, line}, {line, line}});
}

constexpr const char* kHead = R"xml(<?xml version="1.0"?>
<HPCToolkitExperiment version="2.2"><Header n="made"><Info/></Header>
<SecCallPathProfile i="0" n="made"><SecHeader><MetricTable>
<Metric i="2" n="T (sec):Sum (I)" o="0" v="derived-incr" t="inclusive" show="1">
  <MetricFormula t="combine" frm="sum($2, $2)"/><MetricFormula t="finalize" frm="$2"/></Metric>
<Metric i="4" n="T (sec):Mean (I)" v="derived-incr" t="inclusive" show="1">
  <MetricFormula t="combine" frm="sum($4, $4)"/><MetricFormula t="finalize" frm="$4 / $7"/></Metric>
<Metric i="5" n="T (sec):StdDev (I)" v="derived-incr" t="inclusive" show="1">
  <MetricFormula t="combine" frm="sum($5, $5)"/>
  <MetricFormula t="finalize" frm="sqrt($6/$7 - pow($5/$7, 2))"/></Metric>
<Metric i="6" n="T (sec):StdDev:accum2 (I)" v="derived-incr" t="inclusive" show="4">
  <MetricFormula t="combine" frm="sum($6, pow($6, 2))"/></Metric>
<Metric i="7" n="T (sec):StdDev:num-src (I)" v="derived-incr" t="inclusive" show="4">
  <MetricFormula t="combine" frm="sum($7, 1)"/></Metric>
<Metric i="8" n="T (sec):Min (I)" v="derived-incr" t="inclusive" show="1">
  <MetricFormula t="combine" frm="min($8, $8)"/><MetricFormula t="finalize" frm="$8"/></Metric>
<Metric i="9" n="T (sec):Max (I)" v="derived-incr" t="inclusive" show="1">
  <MetricFormula t="combine" frm="max($9, $9)"/><MetricFormula t="finalize" frm="$9"/></Metric>
<Metric i="11" n="share" v="derived" t="inclusive" show="1"><MetricFormula t="view" frm="$4/@2"/></Metric>
<Metric i="12" n="twice" v="derived" t="inclusive" show="1"><MetricFormula t="view" frm="$12*2+#0"/></Metric>
</MetricTable>
)xml";
constexpr const char* kFiles =
    "<MetricDBTable>"
    "<MetricDB i=\"0\" n=\"T (sec) (I)\" t=\"inclusive\" db-glob=\"*.metric-db\" db-id=\"0\" db-num-metrics=\"2\"/>"
    "<MetricDB i=\"1\" n=\"T (sec) (E)\" t=\"exclusive\" db-glob=\"*.metric-db\" db-id=\"1\" db-num-metrics=\"2\"/>"
    "</MetricDBTable>";
// The line's numbers are rounded to six digits: its variance is below what those can tell.
constexpr const char* kTree = R"xml(<LoadModuleTable><LoadModule i="1" n="a.out"/></LoadModuleTable>
<FileTable><File i="1" n="a.c"/></FileTable><ProcedureTable><Procedure i="1" n="main"/></ProcedureTable></SecHeader>
<SecCallPathProfileData><M n="2" v="12"/>
<PF i="2" s="2" n="1" lm="1" f="1" l="1">
<M n="2" v="12"/><M n="4" v="12"/><M n="5" v="12"/><M n="6" v="56"/><M n="7" v="3"/><M n="8" v="2"/><M n="9" v="6"/>
<M n="12" v="5"/>
<S i="3" s="3" l="2" it="3"><M n="2" v="3.00001"/><M n="4" v="3.00001"/><M n="5" v="3.00001"/><M n="6" v="3.00005"/>
<M n="7" v="3"/><M n="8" v="2.22507e-308"/></S></PF></SecCallPathProfileData></SecCallPathProfile>
</HPCToolkitExperiment>
)xml";

class HpctoolkitClassicFormula : public testing::Test {
 protected:
  ProfilePtr open(bool with_files) {
    EXPECT_TRUE(
        write_file(directory_ / "experiment.xml", std::string(kHead) + (with_files ? kFiles : "") + kTree).ok());
    for (int thread = 0; with_files && thread < 3; ++thread) {
      const std::string name = "made-000000-00" + std::to_string(thread) + "-a8c00270-1-0.metric-db";
      // 2, 4, 6 of main; the first thread has none on the line.
      EXPECT_TRUE(write_file(directory_ / name, metric_file(2 + 2 * thread, thread == 0 ? 0 : 3 + thread)).ok());
    }
    auto dataset = open_dataset(directory_.path(), work_);
    EXPECT_TRUE(dataset.ok());
    if (!dataset.ok()) return nullptr;
    dataset_ = std::move(*dataset);
    auto profile = dataset_->profile();
    return profile.ok() ? *profile : nullptr;
  }

  // Over all threads.
  static double value(const Profile& profile, const std::string& metric, std::size_t context) {
    const MetricId id = profile.defs().find_metric(metric);
    if (!id.valid()) return -12345;
    const auto cells = compute(profile, id, {{Flavour::Kind::inclusive, {}}, {}, all_locations(profile.defs()), true});
    return cells.ok() ? cells->scalar(context, 0) : -12345;
  }

  TemporaryDirectory directory_;
  Work work_ = make_work();
  DatasetPtr dataset_;
};

TEST_F(HpctoolkitClassicFormula, FromFilesPerThread) {
  const ProfilePtr profile = open(true);
  ASSERT_TRUE(profile);
  EXPECT_EQ(value(*profile, "T (sec):Mean", 0), 4);
  EXPECT_NEAR(value(*profile, "T (sec):StdDev", 0), std::sqrt(8.0 / 3), 1e-12);
  EXPECT_EQ(value(*profile, "T (sec):Min", 0), 2);
  EXPECT_EQ(value(*profile, "T (sec):Max", 0), 6);
  // A line has the file of the procedure that it lies in.
  EXPECT_EQ(profile->defs().region_of(ContextId(1U)).file, "a.c");
  EXPECT_EQ(profile->defs().region_of(ContextId(1U)).name, "a.c:2");
  // A thread without a value has no part in it.
  EXPECT_EQ(value(*profile, "T (sec):Mean", 1), 4.5);
  EXPECT_EQ(value(*profile, "T (sec):Min", 1), 4);
  EXPECT_NEAR(value(*profile, "T (sec):StdDev", 1), 0.5, 1e-12);
  EXPECT_NEAR(value(*profile, "share", 0), 4.0 / 12, 1e-12);
  // The sum needs no metric of its own; a column of which the files know nothing is reported.
  EXPECT_FALSE(profile->defs().find_metric("T (sec):Sum").valid());
  EXPECT_FALSE(profile->defs().find_metric("twice (shown)").valid());
  bool reported = false;
  for (const auto& one : work_->diagnostics.all()) reported = reported || one.text.find("'twice'") != std::string::npos;
  EXPECT_TRUE(reported);
}

TEST_F(HpctoolkitClassicFormula, FromAccumulatorsOfTheXml) {
  const ProfilePtr profile = open(false);
  ASSERT_TRUE(profile);
  EXPECT_EQ(value(*profile, "T (sec):Mean", 0), 4);
  EXPECT_NEAR(value(*profile, "T (sec):StdDev", 0), std::sqrt(8.0 / 3), 1e-12);
  EXPECT_EQ(value(*profile, "T (sec):StdDev", 1), 0);
  EXPECT_EQ(value(*profile, "T (sec):Min (all threads)", 0), 2);
  EXPECT_EQ(value(*profile, "T (sec):Min (all threads)", 1), 0);  // never set
  EXPECT_NEAR(value(*profile, "share", 0), 4.0 / 12, 1e-12);
  // Its own number is what is stored.
  EXPECT_EQ(value(*profile, "twice (shown)", 0), 5 * 2 + 12);
  EXPECT_FALSE(work_->diagnostics.defective());
}

// Two programs measured together: each has its files and its columns, with one metric in common.
TEST_F(HpctoolkitClassicFormula, TwoGroupsOfFiles) {
  const std::string columns =
      "<MetricDBTable>"
      "<MetricDB i=\"0\" n=\"T (I)\" t=\"inclusive\" db-glob=\"1.*.metric-db\" db-id=\"0\" db-num-metrics=\"2\"/>"
      "<MetricDB i=\"1\" n=\"T (I)\" t=\"inclusive\" db-glob=\"2.*.metric-db\" db-id=\"1\" db-num-metrics=\"2\"/>"
      "<MetricDB i=\"2\" n=\"U (I)\" t=\"inclusive\" db-glob=\"2.*.metric-db\" db-id=\"0\" db-num-metrics=\"2\"/>"
      "</MetricDBTable>";
  const std::string head =
      R"(<HPCToolkitExperiment version="2.2"><Header n="made"/><SecCallPathProfile i="0"><SecHeader>)";
  ASSERT_TRUE(write_file(directory_ / "experiment.xml", head + columns + kTree).ok());
  ASSERT_TRUE(write_file(directory_ / "1.a-000000-000-0-1-0.metric-db", metric_file(5, 1)).ok());
  ASSERT_TRUE(write_file(directory_ / "2.b-000000-000-0-2-0.metric-db", metric_file(7, 3)).ok());
  auto dataset = open_dataset(directory_.path(), work_);
  ASSERT_TRUE(dataset.ok());
  auto profile = (*dataset)->profile();
  ASSERT_TRUE(profile.ok());
  const auto cells = [&](const char* metric) {
    return compute(**profile, (*profile)->defs().find_metric(metric),
                   {{Flavour::Kind::inclusive, {}}, {}, all_locations((*profile)->defs()), false});
  };
  const auto common = cells("T");
  ASSERT_TRUE(common.ok());
  ASSERT_EQ(common->columns(), 2U);
  EXPECT_EQ(common->scalar(0, 0), 5);
  EXPECT_EQ(common->scalar(0, 1), 3);  // main's second column
  const auto other = cells("U");
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(other->scalar(0, 0), 0);
  EXPECT_EQ(other->scalar(0, 1), 7);
}

}  // namespace
}  // namespace fathom::hpctoolkit
