// Classic databases against the reference results beside them.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "formats/hpctoolkit/classic_files.hpp"
#include "formats/registry.hpp"
#include "profile/compute.hpp"
#include "profile/profile.hpp"
#include "trace/trace.hpp"

namespace fathom::hpctoolkit {
namespace {

using Json = nlohmann::json;

std::filesystem::path classic_case(const std::string& name) {
  return std::filesystem::path(FATHOM_SHARED_DATA) / "hpctoolkit" / name;
}

// The sum of one column over the contexts of the tree, for one location.
double column_sum(const Profile& profile, std::size_t metric, const char* scope, std::uint32_t location) {
  Selection selection;
  selection.flavour = {Flavour::Kind::named, scope};
  selection.locations = {location, location + 1};
  auto cells = compute(profile, MetricId(metric), selection);
  EXPECT_TRUE(cells.ok());
  double sum = 0;
  for (std::size_t row = 0; cells.ok() && row < cells->rows(); ++row) sum += cells->scalar(row, 0);
  return sum;
}

TEST(HpctoolkitClassic, ReadsEveryRealDatabase) {
  if (!std::filesystem::exists(classic_case("c-cpi"))) GTEST_SKIP() << "no reference data at " << FATHOM_SHARED_DATA;
  for (const char* name : {"c-allgather", "c-cpi", "c-empty", "c-inline", "c-nometric"}) {
    std::ifstream in(classic_case(name) / "expected.json");
    const Json expected = Json::parse(in);
    const auto work = make_work();
    auto dataset = open_dataset(classic_case(name), work);
    ASSERT_TRUE(dataset.ok()) << name << ": " << dataset.error().text();
    EXPECT_EQ((*dataset)->format().name, "hpctoolkit-classic");
    EXPECT_EQ((*dataset)->version(), expected["xml_version"].get<std::string>());
    auto profile = (*dataset)->profile();
    ASSERT_TRUE(profile.ok());
    const Definitions& defs = (*profile)->defs();
    EXPECT_EQ(defs.contexts.size(), expected["n_contexts"].get<std::size_t>()) << name;
    Json files = expected["metric_db_files"];
    if (expected.contains("merged_metric_db")) files = expected["merged_metric_db"][0]["entries"];
    EXPECT_EQ(defs.system.location_count(), files.size()) << name;
    for (std::size_t location = 0; location < files.size(); ++location) {
      const Json& sums = files[location]["column_sums"];
      for (std::size_t column = 0; column < sums.size(); ++column) {
        const char* scope = column % 2 == 0 ? "inclusive" : "exclusive";
        // Row 0 is the root, which has no element.
        const double expected_sum = sums[column].get<double>() - files[location]["first_row"][column].get<double>();
        const double found = column_sum(**profile, column / 2, scope, static_cast<std::uint32_t>(location));
        EXPECT_NEAR(found, expected_sum, 1e-9 * std::abs(expected_sum)) << name;
      }
    }
    if (expected.contains("top_contexts") && (*profile)->statistics) {
      auto columns = (*profile)->statistics();
      ASSERT_TRUE(columns.ok());
      for (const Json& context : expected["top_contexts"]) {
        for (const auto& [metric, value] : context["xml_M"].items()) {
          bool found = false;
          for (const StoredStatistic& one : *columns) {
            found = found || (std::to_string(defs.metric(one.metric.metric).file_id) == metric &&
                              defs.metric(one.metric.metric).scopes.empty() &&
                              defs.contexts[one.context].file_id == context["ctx"].get<std::uint64_t>() &&
                              one.value == value.get<double>());
          }
          EXPECT_TRUE(found) << name << " context " << context["ctx"] << " metric " << metric;
        }
      }
    }
    if (expected.contains("experiment.mt")) {
      auto trace = (*dataset)->trace();
      ASSERT_TRUE(trace.ok());
      const Json& lines = expected["experiment.mt"]["entries"];
      for (std::size_t i = 0; i < lines.size(); ++i) {
        EXPECT_EQ((*trace)->known_records(LocationId(i)), lines[i]["n"].get<std::uint64_t>());
        auto stream = (*trace)->open(LocationId(i), {});
        ASSERT_TRUE(stream.ok());
        std::vector<Event> events(lines[i]["first"].size());
        ASSERT_EQ((*stream)->next(events).value(), events.size());
        for (std::size_t k = 0; k < events.size(); ++k) {
          EXPECT_EQ(events[k].time_ns, lines[i]["first"][k][0].get<std::int64_t>());
          EXPECT_TRUE(events[k].context().valid()) << name;
        }
      }
    }
    EXPECT_FALSE(work->diagnostics.defective()) << name;
  }
}

std::string big_endian(std::uint64_t value, int bytes) {
  std::string out;
  for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>(value >> (8 * i));
  return out;
}

TEST(HpctoolkitClassic, RefusesAMergedFileWithoutItsEnd) {
  const auto work = make_work();
  std::string merged = big_endian(3, 4) + big_endian(1, 4) + big_endian(2, 4) + big_endian(5, 4) + big_endian(24, 8);
  merged += "abc";
  const auto cut = merged_files(Blob::own("experiment.mt", merged + std::string(8, 'x')), work);
  ASSERT_FALSE(cut.ok());
  EXPECT_NE(cut.error().text().find("incomplete"), std::string::npos);
  const auto whole = merged_files(Blob::own("experiment.mt", merged + big_endian(0xFFFFFFFFDEADF00D, 8)), work);
  ASSERT_TRUE(whole.ok());
  ASSERT_EQ(whole->size(), 1U);
  EXPECT_EQ(whole->front().process, 2);
  EXPECT_EQ(whole->front().thread, 5);
  EXPECT_EQ(whole->front().content.text(), "abc");
}

TEST(HpctoolkitClassic, KeepsTheRowsOfACutMetricFile) {
  const auto work = make_work();
  std::string file = "HPCPROF-metricdb__00.10b" + big_endian(3, 4) + big_endian(2, 4);
  for (int i = 0; i < 5; ++i) file += big_endian(0x3FF0000000000000, 8);  // 1.0
  const Blob blob = Blob::own("a.metric-db", file);
  const auto table = MetricDbFile::read(blob, work);
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(table->rows, 2U);
  EXPECT_EQ(table->at(1, 1), 1.0);
  EXPECT_TRUE(work->diagnostics.defective());
}

}  // namespace
}  // namespace fathom::hpctoolkit
