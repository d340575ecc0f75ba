// What is easily lost: traces beside columns of values, lines of metrics, metrics under one id, what is to be shown.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <tuple>

#include "../../temporary_directory.hpp"
#include "defs/presentation.hpp"
#include "formats/hpctoolkit/database.hpp"
#include "formats/hpctoolkit/hpctoolkit_format.hpp"
#include "formats/registry.hpp"
#include "io/byte_cursor.hpp"
#include "io/file.hpp"
#include "io/output_file.hpp"
#include "profile/compute.hpp"
#include "trace/trace.hpp"

namespace fathom::hpctoolkit {
namespace {

namespace fs = std::filesystem;

fs::path data_of(const std::string& name) { return fs::path(FATHOM_SHARED_DATA) / "hpctoolkit" / name; }

#define SKIP_WITHOUT(name) \
  if (!fs::exists(data_of(name))) GTEST_SKIP() << "no reference data at " << FATHOM_SHARED_DATA

std::string file_text(const fs::path& path) {
  auto blob = map_file(path);
  return blob.ok() ? std::string(blob->text()) : std::string();
}

std::map<EventKind, std::uint64_t> count_events(const Trace& trace) {
  std::map<EventKind, std::uint64_t> counts;
  for (std::size_t i = 0; i < trace.location_count(); ++i) {
    auto stream = trace.open(LocationId(i), {});
    EXPECT_TRUE(stream.ok());
    EventCursor cursor(std::move(*stream));
    while (const Event* event = cursor.next()) ++counts[event->kind];
  }
  return counts;
}

// The same database with and without the values per thread: every trace file is there in both.
TEST(HpctoolkitLosses, ClassicTracesWithoutMetricFiles) {
  SKIP_WITHOUT("c-inline");
  TemporaryDirectory scratch;
  const fs::path copy = scratch.path() / "db";
  fs::copy(data_of("c-inline"), copy, fs::copy_options::recursive);
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(copy)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".metric-db") || name.ends_with(".mdb")) fs::remove(entry.path(), ignored);
  }
  auto whole = open_dataset(data_of("c-inline"), make_work());
  auto without = open_dataset(copy, make_work());
  ASSERT_TRUE(whole.ok());
  ASSERT_TRUE(without.ok()) << without.error().text();
  const auto expected = count_events(**(*whole)->trace());
  EXPECT_GT(expected.at(EventKind::sample), 10000U);
  EXPECT_EQ(count_events(**(*without)->trace()), expected);
}

class Replaced {
 public:
  explicit Replaced(const std::string& name, const char* description) {
    for (const char* file : {description, "profile.db", "cct.db", "trace.db"}) {
      texts_[file] = file_text(data_of(name) / file);
    }
    description_ = description;
  }
  std::string& text(const std::string& file) { return texts_[file]; }
  Result<std::unique_ptr<Database>> open(const Format& format, const Work& work) {
    DatabaseFiles files;
    files.directory = "made";
    files.description = Blob::own(description_, texts_[description_]);
    files.profiles = Blob::own("profile.db", texts_["profile.db"]);
    files.contexts = Blob::own("cct.db", texts_["cct.db"]);
    files.trace = Blob::own("trace.db", texts_["trace.db"]);
    return Database::open(format, std::move(files), work);
  }

 private:
  std::map<std::string, std::string> texts_;
  std::string description_;
};

// The type of a line lies 4 bytes into its header of 22 bytes, the headers at byte 128.
TEST(HpctoolkitLosses, LinesOfMetricsAreCountersAndUnknownOnesAreTold) {
  SKIP_WITHOUT("a-loops-cputime");
  Replaced made("a-loops-cputime", "experiment.xml");
  const auto plain_work = make_work();
  auto plain = made.open(xml_format(), plain_work);
  ASSERT_TRUE(plain.ok()) << plain.error().text();
  const auto all = count_events(**(*plain)->trace()).at(EventKind::sample);
  const std::uint16_t metric = (*plain)->mapping().ids.at(0).at(0);
  const auto of_first_line = (*(*plain)->trace())->known_records(LocationId(0U)).value();
  ASSERT_GT(of_first_line, 0U);

  made.text("trace.db")[128 + 4] = static_cast<char>(metric >> 8);
  made.text("trace.db")[128 + 5] = static_cast<char>(metric & 0xFF);
  const auto counters_work = make_work();
  auto counters = made.open(xml_format(), counters_work);
  ASSERT_TRUE(counters.ok());
  auto counts = count_events(**(*counters)->trace());
  EXPECT_EQ(counts[EventKind::counter], of_first_line);
  EXPECT_EQ(counts[EventKind::sample], all - of_first_line);
  // A database that is written holds samples; what else there is is counted.
  TemporaryDirectory scratch;
  ASSERT_TRUE(meta_format().write(**counters, scratch.path() / "written", {}).ok());
  const auto noticed = counters_work->diagnostics.all();
  EXPECT_TRUE(std::any_of(noticed.begin(), noticed.end(), [&](const Diagnostic& one) {
    return one.id == "hpctoolkit.trace_event_left_out" && one.count == of_first_line;
  }));

  made.text("trace.db")[128 + 4] = '\x7F';
  const auto work = make_work();
  auto unknown = made.open(xml_format(), work);
  ASSERT_TRUE(unknown.ok());
  counts = count_events(**(*unknown)->trace());
  EXPECT_EQ(counts[EventKind::sample] + counts[EventKind::counter], all - of_first_line);
  bool told = false;
  for (const auto& one : work->diagnostics.all()) {
    told = told || (one.id == "hpctoolkit.trace_type" &&
                    one.text.find(std::to_string(of_first_line) + " records") != std::string::npos);
  }
  EXPECT_TRUE(told);
}

// The last metric of the description is taken away: what was stored for it is counted, whichever file has it.
TEST(HpctoolkitLosses, ValuesOfMetricsThatAreNotDescribed) {
  SKIP_WITHOUT("b-vectoradd-cuda");
  for (const bool with_contexts : {true, false}) {
    Replaced made("b-vectoradd-cuda", "meta.db");
    if (!with_contexts) made.text("cct.db").clear();
    const auto told = [&] {
      const auto work = make_work();
      auto database = made.open(meta_format(), work);
      EXPECT_TRUE(database.ok());
      EXPECT_TRUE((*database)->check().ok());
      std::uint64_t count = 0;
      for (const Diagnostic& one : work->diagnostics.all()) {
        if (one.id == "hpctoolkit.unknown_metric") count += one.count;
      }
      return count;
    };
    EXPECT_EQ(told(), 0U);
    std::string& meta = made.text("meta.db");
    std::uint64_t section = 0;
    std::memcpy(&section, meta.data() + 0x38, sizeof section);
    std::memset(meta.data() + section + 8, 0, 4);  // the number of metrics
    const std::uint64_t all = [&] {
      const auto profiles = ProfileDb::read(Blob::own("profile.db", made.text("profile.db")), make_work());
      std::uint64_t count = 0;
      for (const ProfileRecord& one : profiles->profiles()) count += one.summary ? 0 : one.value_count;
      return count;
    }();
    EXPECT_GT(all, 0U);
    EXPECT_EQ(told(), all);
  }
}

double total(const Profile& profile, const std::string& metric) {
  Selection selection{
      {Flavour::Kind::inclusive, {}}, profile.defs().contexts.roots(), all_locations(profile.defs()), true};
  auto cells = compute(profile, profile.defs().find_metric(metric), selection);
  EXPECT_TRUE(cells.ok());
  double sum = 0;
  for (std::size_t row = 0; cells.ok() && row < cells->rows(); ++row) sum += cells->scalar(row, 0);
  return sum;
}

// A second metric under the ids of the first: both have the values, and both survive writing.
TEST(HpctoolkitLosses, MetricsThatShareAnId) {
  SKIP_WITHOUT("a-loops-cputime");
  Replaced made("a-loops-cputime", "experiment.xml");
  std::string& xml = made.text("experiment.xml");
  const auto begin = xml.find("<MetricDBTable>") + 15;
  const auto end = xml.find("</MetricDBTable>");
  ASSERT_NE(end, std::string::npos);
  std::string twins = xml.substr(begin, end - begin);
  for (std::size_t at = 0; (at = twins.find(" n=\"", at)) != std::string::npos; at += 9) twins.insert(at + 4, "TWIN:");
  xml.insert(end, twins);
  const auto work = make_work();
  auto database = made.open(xml_format(), work);
  ASSERT_TRUE(database.ok()) << database.error().text();
  const auto noticed = work->diagnostics.all();
  EXPECT_TRUE(std::any_of(noticed.begin(), noticed.end(),
                          [](const Diagnostic& one) { return one.id == "hpctoolkit.shared_metric_id"; }));
  const auto profile = (*database)->profile();
  ASSERT_TRUE(profile.ok());
  const std::string name = (*profile)->defs().metrics[0].name;
  const double value = total(**profile, name);
  EXPECT_GT(value, 0);
  EXPECT_EQ(total(**profile, "TWIN:" + name), value);
  TemporaryDirectory scratch;
  const fs::path target = scratch.path() / "written";
  ASSERT_TRUE(meta_format().write != nullptr);
  auto written = meta_format().write(**database, target, {});
  ASSERT_TRUE(written.ok()) << written.error().text();
  auto again = open_dataset(target, make_work());
  ASSERT_TRUE(again.ok());
  for (const std::string& each : {name, "TWIN:" + name}) {
    EXPECT_NEAR(total(**(*again)->profile(), each), value, 1e-9 * value) << each;
  }
}

// Statistics are as many as contexts times columns: without the memory for them that is an error, not a surprise.
TEST(HpctoolkitLosses, StatisticsCountAgainstTheMemoryLimit) {
  SKIP_WITHOUT("b-mpi24-stats");
  Replaced made("b-mpi24-stats", "meta.db");
  const auto work = make_work();
  auto database = made.open(meta_format(), work);
  ASSERT_TRUE(database.ok()) << database.error().text();
  const auto profile = (*database)->profile();
  ASSERT_TRUE(profile.ok());
  auto statistics = (*profile)->statistics();
  ASSERT_TRUE(statistics.ok()) << statistics.error().text();
  const std::uint64_t needed = statistics->size() * sizeof(StoredStatistic);
  const auto rest =
      work->budget.reserve(work->budget.limit() - work->budget.used() - needed, "all but what is given back");
  ASSERT_TRUE(rest.ok());
  statistics = (*profile)->statistics();
  ASSERT_FALSE(statistics.ok());
  EXPECT_NE(statistics.error().text().find("the stored statistics"), std::string::npos) << statistics.error().text();
}

// A profile whose flag says that it sums up others, a node's say, is no summary of all: statistics come from the first
// one alone, and what is left out is told. The header of profile.db points to the section, that to the records.
TEST(HpctoolkitLosses, AFurtherSummaryIsNotMixedWithTheFirst) {
  SKIP_WITHOUT("b-mpi24-stats");
  Replaced made("b-mpi24-stats", "meta.db");
  std::string& file = made.text("profile.db");
  const auto word = [&](std::size_t at) {
    return load_unchecked<std::uint64_t>(std::as_bytes(std::span(file)).data() + at, Endian::little);
  };
  const std::size_t section = word(0x18);
  const auto stride = static_cast<std::uint8_t>(file[section + 12]);
  const std::size_t second = word(section) + stride;
  const std::uint64_t its_values = word(second);
  ASSERT_GT(its_values, 0U);
  file[second + 0x28] = 1;
  const auto work = make_work();
  auto database = made.open(meta_format(), work);
  ASSERT_TRUE(database.ok()) << database.error().text();
  const auto statistics = (*(*database)->profile())->statistics();
  ASSERT_TRUE(statistics.ok());
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::string>> seen;
  for (const StoredStatistic& one : *statistics) {
    EXPECT_TRUE(seen.emplace(one.metric.metric.value, one.metric.scope, one.context.value, one.statistic).second)
        << one.statistic << " twice for context " << one.context.value;
  }
  EXPECT_FALSE(seen.empty());
  const auto told = work->diagnostics.all();
  EXPECT_TRUE(std::any_of(told.begin(), told.end(), [&](const Diagnostic& one) {
    return one.id == "hpctoolkit.further_summary" &&
           one.text.find(std::to_string(its_values) + " statistics") != std::string::npos;
  }));
}

// show: 0 = hidden; show-percent; fmt: as experiment.xml says.
TEST(HpctoolkitLosses, WhatIsToBeShown) {
  SKIP_WITHOUT("a-loops-cputime");
  Replaced made("a-loops-cputime", "experiment.xml");
  std::string& xml = made.text("experiment.xml");
  std::size_t changed = 0;
  for (std::size_t at = 0; (at = xml.find(":Sum (", at)) != std::string::npos; ++at) {
    const auto show = xml.find("show=\"1\"", at);
    if (show == std::string::npos || show > xml.find('>', at)) continue;
    xml.replace(show, 8, "show=\"0\" fmt=\"%6.2f %%\"");
    ++changed;
  }
  ASSERT_GT(changed, 0U);
  auto database = made.open(xml_format(), make_work());
  ASSERT_TRUE(database.ok()) << database.error().text();
  const Metric& metric = (*(*database)->profile())->defs().metrics[0];
  EXPECT_TRUE(metric.hidden);
  EXPECT_EQ(presentation_of(metric).format, "%6.2f %%");
  auto plain = open_dataset(data_of("a-loops-cputime"), make_work());
  ASSERT_TRUE(plain.ok());
  EXPECT_FALSE((*(*plain)->profile())->defs().metrics[0].hidden);
}

}  // namespace
}  // namespace fathom::hpctoolkit
