// Traces of classic databases: whose they are, in what unit their times are, and what their records hold.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "formats/hpctoolkit/sample_trace.hpp"
#include "formats/registry.hpp"
#include "io/output_file.hpp"
#include "made_classic_files.hpp"
#include "temporary_directory.hpp"
#include "trace/trace.hpp"

namespace fathom::hpctoolkit {
namespace {

// Rows of the root, of main and of its line.
std::string metric_file(double value) { return hpctoolkit::metric_file({{value}, {value}, {value}}); }

// Samples of the line; with ids of metrics: 40, 41, ...
std::string trace_file(const std::vector<std::uint64_t>& times, bool metric_ids = false) {
  std::string out = "HPCRUN-trace______01.01b" + big_endian(metric_ids ? 1 : 0, 8);
  for (std::size_t i = 0; i < times.size(); ++i) {
    out += big_endian(times[i], 8) + big_endian(3, 4);
    if (metric_ids) out += big_endian(40 + i, 4);
  }
  return out;
}

std::string merged(const std::vector<std::string>& files) {
  std::string head = big_endian(3, 4) + big_endian(files.size(), 4);
  std::string body;
  for (const std::string& file : files) {
    head += big_endian(0, 4) + big_endian(0, 4) + big_endian(8 + 16 * files.size() + body.size(), 8);
    body += file;
  }
  return head + body + big_endian(0xFFFFFFFFDEADF00D, 8);
}

class HpctoolkitClassicTraces : public testing::Test {
 protected:
  void put(const std::string& name, const std::string& content) {
    ASSERT_TRUE(write_file(directory_ / name, content).ok());
  }
  // `trace_table`: the element that tells of traces.
  std::shared_ptr<const Trace> open(const std::string& trace_table) {
    put("experiment.xml", R"xml(<?xml version="1.0"?>
<HPCToolkitExperiment version="2.2"><Header n="made"><Info/></Header>
<SecCallPathProfile i="0" n="made"><SecHeader><MetricTable/>
<MetricDBTable><MetricDB i="0" n="T (I)" t="inclusive" db-glob="*.metric-db" db-id="0" db-num-metrics="1"/>
</MetricDBTable>)xml" + trace_table +
                              R"xml(<LoadModuleTable><LoadModule i="1" n="a.out"/></LoadModuleTable>
<FileTable><File i="1" n="a.c"/></FileTable><ProcedureTable><Procedure i="1" n="main"/></ProcedureTable></SecHeader>
<SecCallPathProfileData><PF i="2" s="2" n="1" lm="1" f="1" l="1"><S i="3" s="3" l="2" it="3"/></PF>
</SecCallPathProfileData></SecCallPathProfile></HPCToolkitExperiment>
)xml");
    auto dataset = open_dataset(directory_.path(), work_);
    EXPECT_TRUE(dataset.ok()) << dataset.error().text();
    if (!dataset.ok()) return nullptr;
    dataset_ = std::move(*dataset);
    auto trace = dataset_->trace();
    EXPECT_TRUE(trace.ok()) << trace.error().text();
    return trace.ok() ? *trace : nullptr;
  }
  static std::string table(const std::string& attributes) {
    return "<TraceDBTable><TraceDB i=\"0\" db-glob=\"*.hpctrace\" " + attributes + "/></TraceDBTable>";
  }
  // The samples of every location.
  static std::vector<std::vector<std::int64_t>> times(const Trace& trace) {
    std::vector<std::vector<std::int64_t>> out;
    for (std::size_t i = 0; i < trace.location_count(); ++i) {
      auto& here = out.emplace_back();
      auto stream = trace.open(LocationId(i), {});
      EXPECT_TRUE(stream.ok());
      if (!stream.ok()) continue;
      EventCursor cursor(std::move(*stream));
      while (const Event* event = cursor.next()) here.push_back(event->time_ns);
    }
    return out;
  }
  [[nodiscard]] bool told(const std::string& id) const {
    const auto all = work_->diagnostics.all();
    return std::any_of(all.begin(), all.end(), [&](const Diagnostic& one) { return one.id == id; });
  }

  using Times = std::vector<std::vector<std::int64_t>>;
  TemporaryDirectory directory_;
  Work work_ = make_work();
  std::unique_ptr<Dataset> dataset_;
};

// A program that forks: two processes have the same rank and thread.
TEST_F(HpctoolkitClassicTraces, ProcessesOfOneRankStayApart) {
  // Files of values have the number of their group before the name.
  put("1.app-000000-000-a8c00270-101-0.metric-db", metric_file(1));
  put("1.app-000000-000-a8c00270-202-0.metric-db", metric_file(2));
  put("app-000000-000-a8c00270-101-0.hpctrace", trace_file({10, 30}));
  put("app-000000-000-a8c00270-202-0.hpctrace", trace_file({20, 40, 50}));
  const auto trace = open(table("u=\"1000000000\""));
  ASSERT_TRUE(trace);
  EXPECT_EQ(times(*trace), (Times{{10, 30}, {20, 40, 50}}));
  const SystemTree& system = trace->definitions().system;
  const SystemNodeId first = system.group_of(LocationId(0U));
  const SystemNodeId second = system.group_of(LocationId(1U));
  EXPECT_NE(first, second);
  EXPECT_EQ(system.nodes[first.index()].name, "RANK 0");
  EXPECT_EQ(system.nodes[second.index()].name, "RANK 0 PID 202");
  EXPECT_EQ(system.nodes[second.index()].rank, 0);
}

// Process ids come back to the process that has them, whatever else is missing.
TEST_F(HpctoolkitClassicTraces, AProcessWithoutValuesIsALocationOfItsOwn) {
  put("1.app-000000-000-a8c00270-202-0.metric-db", metric_file(2));
  put("app-000000-000-a8c00270-101-0.hpctrace", trace_file({10, 30}));
  put("app-000000-000-a8c00270-202-0.hpctrace", trace_file({20}));
  const auto trace = open(table("u=\"1000000000\""));
  ASSERT_TRUE(trace);
  EXPECT_EQ(times(*trace), (Times{{20}, {10, 30}}));
  auto entries = dataset_->describe(false);
  ASSERT_TRUE(entries.ok());
  const auto locations =
      std::find_if(entries->begin(), entries->end(), [](const InfoEntry& one) { return one.key == "locations"; });
  ASSERT_NE(locations, entries->end());
  EXPECT_EQ(locations->value, InfoValue(std::uint64_t{2}));
}

// Merged files do not tell processes: a rank decides only where it leaves no choice.
TEST_F(HpctoolkitClassicTraces, TwoTracesAndOneMergedStream) {
  put("experiment-1.mdb", merged({metric_file(1)}));
  put("app-000000-000-a8c00270-101-0.hpctrace", trace_file({10, 30}));
  put("app-000000-000-a8c00270-202-0.hpctrace", trace_file({20}));
  const auto trace = open(table("u=\"1000000000\""));
  ASSERT_TRUE(trace);
  EXPECT_EQ(times(*trace), (Times{{}, {10, 30}, {20}}));
}

TEST_F(HpctoolkitClassicTraces, OneTraceAndOneMergedStream) {
  put("experiment-1.mdb", merged({metric_file(1)}));
  put("app-000000-000-a8c00270-101-0.hpctrace", trace_file({10, 30}));
  const auto trace = open(table("u=\"1000000000\""));
  ASSERT_TRUE(trace);
  EXPECT_EQ(times(*trace), (Times{{10, 30}}));
}

TEST_F(HpctoolkitClassicTraces, MergedProcessesOfOneRankStayApart) {
  put("experiment-1.mdb", merged({metric_file(1), metric_file(2)}));
  put("experiment.mt", merged({trace_file({10, 30}), trace_file({20})}));
  const auto trace = open(table("u=\"1000000000\""));
  ASSERT_TRUE(trace);
  EXPECT_EQ(times(*trace), (Times{{10, 30}, {20}}));
}

// The XML does not tell of traces, but there are some; the unit is seen from the size of the times.
TEST_F(HpctoolkitClassicTraces, FilesThatTheXmlDoesNotTellOf) {
  put("app-000000-000-a8c00270-101-0.metric-db", metric_file(1));
  put("app-000000-000-a8c00270-101-0.hpctrace", trace_file({1659713364904210000, 1659713364905525000}));
  const auto trace = open("");
  ASSERT_TRUE(trace);
  EXPECT_EQ(times(*trace), (Times{{1659713364904210000, 1659713364905525000}}));
  EXPECT_TRUE(told("hpctoolkit.trace_unit"));
  EXPECT_FALSE(work_->diagnostics.defective());
}

TEST_F(HpctoolkitClassicTraces, MicrosecondsThatTheXmlDoesNotTellOf) {
  put("app-000000-000-a8c00270-101-0.metric-db", metric_file(1));
  put("app-000000-000-a8c00270-101-0.hpctrace", trace_file({1659713364904210, 1659713364905525}));
  const auto trace = open("");
  ASSERT_TRUE(trace);
  EXPECT_EQ(times(*trace), (Times{{1659713364904210000, 1659713364905525000}}));
}

TEST_F(HpctoolkitClassicTraces, IdsOfMetricsAreShown) {
  put("app-000000-000-a8c00270-101-0.metric-db", metric_file(1));
  put("app-000000-000-a8c00270-101-0.hpctrace", trace_file({10, 30}, true));
  const auto trace = open(table("u=\"1000000000\" db-header-sz=\"32\""));
  ASSERT_TRUE(trace);
  auto stream = trace->open(LocationId(0U), {});
  ASSERT_TRUE(stream.ok());
  EventCursor cursor(std::move(*stream));
  for (const std::string id : {"40", "41"}) {
    const Event* event = cursor.next();
    ASSERT_NE(event, nullptr);
    std::string detail;
    ASSERT_TRUE(trace->detail(*event, detail).ok());
    EXPECT_EQ(detail.substr(0, detail.find(";depth")), "context=3;metric=" + id);
  }
  std::string text;
  DumpOptions options;
  options.sections = {"traces"};
  ASSERT_TRUE(dataset_
                  ->dump(options,
                         [&](std::string_view line) {
                           text += line;
                           return true;
                         })
                  .ok());
  EXPECT_NE(text.find("30 context 3 metric 41"), std::string::npos) << text;
}

TEST_F(HpctoolkitClassicTraces, TicksThatAreNoWholeNanoseconds) {
  put("app-000000-000-a8c00270-101-0.metric-db", metric_file(1));
  put("app-000000-000-a8c00270-101-0.hpctrace", trace_file({3'000'000, 4'315'000}));
  const auto slow = open(table("u=\"3000000\""));
  ASSERT_TRUE(slow);
  EXPECT_EQ(times(*slow), (Times{{1'000'000'000, 1'438'333'333}}));
  const auto fast = open(table("u=\"3000000000\""));
  ASSERT_TRUE(fast);
  EXPECT_EQ(times(*fast), (Times{{1'000'000, 1'438'333}}));
  EXPECT_FALSE(work_->diagnostics.defective());
}

// Times since 1970 in ticks of a third of a microsecond do not fit; the spans between samples do.
TEST_F(HpctoolkitClassicTraces, TimesThatDoNotFit) {
  put("app-000000-000-a8c00270-101-0.metric-db", metric_file(1));
  put("app-000000-000-a8c00270-101-0.hpctrace", trace_file({1659713364904210000, 1659713364905525000}));
  const auto trace = open(table("u=\"3000000\""));
  ASSERT_TRUE(trace);
  EXPECT_EQ(times(*trace), (Times{{0, 438'333'333}}));
  EXPECT_TRUE(told("hpctoolkit.trace_origin"));
  EXPECT_FALSE(told("hpctoolkit.trace_time"));
}

// A damaged sample does not move the others.
TEST_F(HpctoolkitClassicTraces, OneTimeThatDoesNotFit) {
  put("app-000000-000-a8c00270-101-0.metric-db", metric_file(1));
  put("app-000000-000-a8c00270-101-0.hpctrace", trace_file({1'000'000, 2'000'000, 0xFFFFFFFFFFFFFFF0}));
  const auto trace = open(table("u=\"1000000\""));
  ASSERT_TRUE(trace);
  EXPECT_EQ(times(*trace), (Times{{1'000'000'000, 2'000'000'000, std::numeric_limits<std::int64_t>::max()}}));
  EXPECT_TRUE(told("hpctoolkit.trace_time"));
  EXPECT_FALSE(told("hpctoolkit.trace_origin"));
}

TEST(HpctoolkitTicks, AreExact) {
  EXPECT_EQ(TickScale().ns(17), 17);
  EXPECT_EQ(TickScale(1'000'000).ns(1'659'713'364'904'210), 1'659'713'364'904'210'000);
  EXPECT_EQ(TickScale(7).ns(7'000'000'003), 1'000'000'000'428'571'428);
  EXPECT_EQ(TickScale(3'000'000'000).ns(0xFFFFFFFFFFFFFFFF), 6'148'914'691'236'517'205);
  EXPECT_EQ(TickScale(3'000'000'000, 1'000).ns(4'000), 1'000);
}

}  // namespace
}  // namespace fathom::hpctoolkit
