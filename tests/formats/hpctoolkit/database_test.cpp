// Every real database of the sparse generations against the reference results beside it.
#include "formats/hpctoolkit/database.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "formats/registry.hpp"
#include "profile/compute.hpp"
#include "trace/trace.hpp"

namespace fathom::hpctoolkit {
namespace {

using Json = nlohmann::json;

std::filesystem::path data_directory() { return std::filesystem::path(FATHOM_SHARED_DATA) / "hpctoolkit"; }

std::vector<std::string> cases_with(const std::string& prefix) {
  std::vector<std::string> cases;
  std::error_code status;
  for (const auto& entry : std::filesystem::directory_iterator(data_directory(), status)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(prefix) && std::filesystem::exists(entry.path() / "expected.json")) cases.push_back(name);
  }
  std::sort(cases.begin(), cases.end());
  return cases;
}

Json expected_of(const std::string& name) {
  std::ifstream in(data_directory() / name / "expected.json");
  return Json::parse(in);
}

struct Opened {
  Work work = make_work();
  DatasetPtr dataset;
  Database* database = nullptr;
  ProfilePtr profile;
};

Opened open_case(const std::string& name) {
  Opened out;
  auto dataset = open_dataset(data_directory() / name, out.work);
  EXPECT_TRUE(dataset.ok()) << name << ": " << (dataset.ok() ? "" : dataset.error().text());
  if (!dataset.ok()) return out;
  out.dataset = std::move(*dataset);
  out.database = dynamic_cast<Database*>(out.dataset.get());
  auto profile = out.dataset->profile();
  EXPECT_TRUE(profile.ok());
  if (profile.ok()) out.profile = *profile;
  return out;
}

bool near(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b)); }

double sum_of(const Profile& profile, MetricId metric, const std::string& scope, std::uint64_t file_id) {
  Selection selection;
  selection.flavour = {Flavour::Kind::named, scope};
  selection.contexts = {profile.defs().contexts.find(file_id)};
  selection.locations = all_locations(profile.defs());
  selection.aggregate = true;
  auto cells = compute(profile, metric, selection);
  return cells.ok() ? cells->scalar(0, 0) : std::nan("");
}

void expect_traces(Dataset& dataset, const Json& expected, const std::string& name) {
  if (!expected.contains("trace.db") || expected["trace.db"].value("samples", 0) == 0) return;
  auto trace = dataset.trace();
  ASSERT_TRUE(trace.ok()) << name;
  const Definitions& defs = (*trace)->definitions();
  for (const Json& line : expected["trace.db"]["lines"]) {
    const LocationId location = defs.system.find_location(
        std::to_string(line[line.contains("prof_index") ? "prof_index" : "prof_info_idx"].get<int>()));
    ASSERT_TRUE(location.valid());
    auto stream = (*trace)->open(location, {});
    ASSERT_TRUE(stream.ok());
    std::vector<Event> events(line["n"].get<std::size_t>() + 1);
    std::size_t count = 0;
    for (;;) {
      const auto more = (*stream)->next(std::span(events).subspan(count));
      ASSERT_TRUE(more.ok());
      if (*more == 0) break;
      count += *more;
    }
    EXPECT_EQ(count, line["n"].get<std::size_t>()) << name;
    const auto expect = [&](const Json& samples, std::size_t first) {
      for (std::size_t i = 0; i < samples.size(); ++i) {
        const Event& event = events[first + i];
        EXPECT_EQ(event.time_ns, samples[i][0].get<std::int64_t>()) << name;
        std::string detail;
        ASSERT_TRUE((*trace)->detail(event, detail).ok());
        const auto id = samples[i][1].get<std::uint64_t>();
        EXPECT_TRUE((detail + ";").starts_with("context=" + std::to_string(id) + ";")) << detail;
        if (event.context().valid()) {
          EXPECT_EQ(defs.contexts[event.context()].file_id, id) << name;
        }
      }
    };
    expect(line["first"], 0);
    expect(line["last"], count - line["last"].size());
  }
}

TEST(HpctoolkitMeta, ReadsEveryRealDatabase) {
  const auto cases = cases_with("b");
  if (cases.empty()) GTEST_SKIP() << "no reference data at " << data_directory();
  for (const std::string& name : cases) {
    const Json expected = expected_of(name);
    Opened opened = open_case(name);
    ASSERT_NE(opened.database, nullptr) << name;
    const Definitions& defs = opened.profile->defs();
    EXPECT_EQ(opened.dataset->format().name, "hpctoolkit") << name;
    EXPECT_EQ(defs.contexts.size(), expected["n_contexts"].get<std::size_t>()) << name;
    EXPECT_EQ(defs.metrics.size() - opened.profile->programs.size(), expected["metrics"].size()) << name;
    std::size_t ordinary = 0;
    for (const Json& profile : expected["profiles"])
      ordinary += profile.value("is_summary", profile["index"] == 0 ? 1 : 0) == 0;
    EXPECT_EQ(defs.system.location_count(), ordinary) << name;
    const MetricId metric = defs.find_metric(expected["top_contexts_metric"].get<std::string>());
    ASSERT_TRUE(metric.valid()) << name;
    for (const Json& context : expected["top_contexts"]) {
      const auto id = context["ctx"].get<std::uint64_t>();
      ASSERT_TRUE(defs.contexts.find(id).valid()) << name << " context " << id;
      EXPECT_EQ(defs.contexts[defs.contexts.find(id)].depth + 1, context["path"].size()) << name << " context " << id;
      for (const auto& [scope, value] : context["sum"].items()) {
        EXPECT_TRUE(near(sum_of(*opened.profile, metric, scope, id), value.get<double>()))
            << name << " context " << id << " " << scope;
      }
    }
    expect_traces(*opened.dataset, expected, name);
    EXPECT_FALSE(opened.work->diagnostics.defective()) << name << ": " << opened.work->diagnostics.all().front().text;
  }
}

TEST(HpctoolkitXml, ReadsEveryRealDatabase) {
  const auto cases = cases_with("a");
  if (cases.empty()) GTEST_SKIP() << "no reference data at " << data_directory();
  for (const std::string& name : cases) {
    const Json expected = expected_of(name);
    Opened opened = open_case(name);
    ASSERT_NE(opened.database, nullptr) << name;
    const Definitions& defs = opened.profile->defs();
    EXPECT_EQ(opened.dataset->format().name, "hpctoolkit-xml") << name;
    EXPECT_EQ(defs.contexts.size(), expected["n_contexts_in_xml"].get<std::size_t>()) << name;
    EXPECT_EQ(defs.system.location_count() + 1, expected["profiles"].size()) << name;
    std::string text = expected["metric_db"][0]["n"].get<std::string>();
    const auto inclusive_id = expected["top_contexts_metric"][0].get<int>();
    for (const Json& column : expected["metric_db"]) {
      if (std::stoi(column["i"].get<std::string>()) == inclusive_id) text = column["n"].get<std::string>();
    }
    const MetricId metric = defs.find_metric(text.substr(0, text.rfind(" (I)")));
    ASSERT_TRUE(metric.valid()) << name << " " << text;
    for (const Json& context : expected["top_contexts"]) {
      const auto id = context["ctx"].get<std::uint64_t>();
      ASSERT_TRUE(defs.contexts.find(id).valid()) << name << " context " << id;
      EXPECT_TRUE(near(sum_of(*opened.profile, metric, "execution", id), context["incl_sum"].get<double>()))
          << name << " context " << id;
      EXPECT_TRUE(near(sum_of(*opened.profile, metric, "function", id), context["excl_sum"].get<double>()))
          << name << " context " << id;
    }
    expect_traces(*opened.dataset, expected, name);
    const bool zeroed = name.starts_with("a1");
    EXPECT_EQ(opened.work->diagnostics.defective(), zeroed) << name;
  }
}

// All values of one of the two files, in one order.
std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, double>> all_values(
    const Database& database, Via via) {
  const Definitions& defs = *database.mapping().definitions;
  std::vector<StoredMetric> metrics;
  for (std::size_t m = 0; m < defs.metrics.size(); ++m) {
    for (std::size_t s = 0; s < defs.metrics[m].scopes.size(); ++s)
      metrics.push_back({MetricId(m), static_cast<std::uint32_t>(s)});
  }
  std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, double>> out;
  const Box box{metrics, {0, static_cast<std::uint32_t>(defs.contexts.size())}, all_locations(defs)};
  auto status = database.source().scan(
      box,
      [&](const Run& run) -> Result<void> {
        for (std::size_t i = 0; i < run.count; ++i) {
          const bool by_location = run.along == Axis::location;
          out.emplace_back(
              run.metric.metric.value, run.metric.scope, by_location ? run.context.value : run.positions[i],
              by_location ? run.positions[i] : run.location.value, load_unchecked<double>(run.values + i * 8));
        }
        return {};
      },
      via);
  EXPECT_TRUE(status.ok());
  std::sort(out.begin(), out.end());
  return out;
}

TEST(Hpctoolkit, BothValueFilesAgree) {
  std::size_t compared = 0;
  for (const char* prefix : {"a-", "b"}) {
    for (const std::string& name : cases_with(prefix)) {
      Opened opened = open_case(name);
      ASSERT_NE(opened.database, nullptr);
      ASSERT_TRUE(opened.database->source().has_contexts() && opened.database->source().has_profiles()) << name;
      const auto by_profile = all_values(*opened.database, Via::profile_db);
      EXPECT_FALSE(by_profile.empty()) << name;
      EXPECT_TRUE(by_profile == all_values(*opened.database, Via::cct_db)) << name;
      EXPECT_TRUE(by_profile == all_values(*opened.database, Via::either)) << name;
      ++compared;
    }
  }
  if (compared == 0) GTEST_SKIP() << "no reference data at " << data_directory();
}

TEST(Hpctoolkit, OpensFromEitherValueFileAlone) {
  const auto source = data_directory() / "b-loops-cputime";
  if (!std::filesystem::exists(source)) GTEST_SKIP() << "no reference data at " << data_directory();
  const auto whole = [&] {
    Opened opened = open_case("b-loops-cputime");
    return all_values(*opened.database, Via::either);
  }();
  for (const char* missing : {"profile.db", "cct.db"}) {
    const auto work = make_work();
    auto files = DatabaseFiles::at(source, "meta.db", work);
    ASSERT_TRUE(files.ok());
    (std::string(missing) == "cct.db" ? files->contexts : files->profiles).reset();
    auto database = Database::open((*open_case("b-loops-cputime").dataset).format(), std::move(*files), work);
    ASSERT_TRUE(database.ok()) << missing;
    EXPECT_TRUE(work->diagnostics.defective()) << missing;
    EXPECT_TRUE(all_values(**database, Via::either) == whole) << missing;
  }
}

TEST(Hpctoolkit, RecomputesWrongStatistics) {
  if (!std::filesystem::exists(data_directory() / "b-small-stats")) GTEST_SKIP() << "no reference data";
  Opened opened = open_case("b-small-stats");
  ASSERT_TRUE(opened.profile->statistics);
  auto statistics = opened.profile->statistics();
  ASSERT_TRUE(statistics.ok());
  // One profile: the sum of squares is the square of the sum, the deviation is zero.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::map<std::string, double>> cells;
  for (const StoredStatistic& s : *statistics) cells[{s.metric.scope, s.context.value}][s.statistic] = s.value;
  std::size_t checked = 0;
  for (auto& [cell, values] : cells) {
    if (!values.contains("stddev")) continue;
    EXPECT_NEAR(values.at(std::string(kSumOfSquares)), values["sum"] * values["sum"], 1e-12);
    EXPECT_NEAR(values["stddev"], 0, 1e-6);
    EXPECT_DOUBLE_EQ(values["min"], values["max"]);
    ++checked;
  }
  EXPECT_GT(checked, 5U);
  const auto notes = opened.work->diagnostics.all();
  ASSERT_FALSE(notes.empty());
  EXPECT_EQ(notes.front().id, "hpctoolkit.stored_statistic");
}

}  // namespace
}  // namespace fathom::hpctoolkit
