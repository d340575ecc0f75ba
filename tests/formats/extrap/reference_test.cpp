// All experiments of the reference's own collection, read and compared value by value.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "formats/extrap/expected.hpp"
#include "formats/registry.hpp"

namespace fathom::extrap::testing {
namespace {

const std::map<std::string, std::string> kFormatOfReader = {
    {"text", "extrap-text"},    {"talpas", "talpas"},      {"json", "extrap-json"},
    {"extra-p-3", "extra-p-3"}, {"experiment", "extra-p"},
};

Result<DatasetPtr> open_as(const std::filesystem::path& path, const std::string& reader, const Work& work) {
  return open_dataset(path, work, kFormatOfReader.at(reader));
}

TEST(ExtrapReference, EveryInput) {
  if (!have_data()) GTEST_SKIP() << "no reference data";
  std::size_t compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator(data("expected"))) {
    const Json expected = load_json(entry.path());
    const std::string reader = expected["reader"];
    if (reader == "cube") continue;  // directories of runs have a test of their own
    SCOPED_TRACE(expected["input"].get<std::string>());
    const auto path = data("inputs") / expected["input"].get<std::string>();
    if (!std::filesystem::exists(path)) continue;
    const Work work = make_work();
    // Recognised without being told.
    auto dataset = open_dataset(path, work);
    if (expected.contains("error")) {
      const bool refused = !dataset.ok() || !(*dataset)->experiment().ok();
      EXPECT_TRUE(refused);
      continue;
    }
    ASSERT_TRUE(dataset.ok()) << dataset.error().text();
    if (reader != "json") {
      EXPECT_EQ((*dataset)->format().name, kFormatOfReader.at(reader));
    }
    auto experiment = (*dataset)->experiment();
    ASSERT_TRUE(experiment.ok()) << experiment.error().text();
    check_experiment(**experiment, expected["experiment"]);
    if (expected.contains("stored_models")) {
      auto models = (*dataset)->models();
      ASSERT_TRUE(models.ok()) << models.error().text();
      check_models(**experiment, **models, expected["stored_models"], expected.value("predict_at", Json::array()));
    }
    ++compared;
    if (HasFailure()) break;
  }
  EXPECT_GE(compared, 50u);
}

TEST(ExtrapReference, StoredExperiments) {
  if (!have_data()) GTEST_SKIP() << "no reference data";
  for (const auto& entry : std::filesystem::directory_iterator(data("extra-p"))) {
    if (entry.path().extension() != ".extra-p") continue;
    SCOPED_TRACE(entry.path().filename().string());
    auto path = entry.path();
    const Json expected = load_json(path.replace_extension(".expected.json.gz"));
    auto dataset = open_dataset(entry.path(), make_work());
    ASSERT_TRUE(dataset.ok()) << dataset.error().text();
    auto experiment = (*dataset)->experiment();
    ASSERT_TRUE(experiment.ok());
    check_experiment(**experiment, expected["experiment"], 1e-9, false);
    if (!expected.contains("stored_models") || expected["stored_models"].empty()) continue;
    auto models = (*dataset)->models();
    ASSERT_TRUE(models.ok()) << models.error().text();
    check_models(**experiment, **models, expected["stored_models"], expected.value("predict_at", Json::array()));
    // Written and read again: nothing is lost.
    const auto copy = std::filesystem::path(::testing::TempDir()) / "copy.extra-p";
    const auto written = (*dataset)->format().write(**dataset, copy, {});
    ASSERT_TRUE(written.ok()) << written.error().text();
    auto again = open_dataset(copy, make_work());
    ASSERT_TRUE(again.ok()) << again.error().text();
    auto same = (*again)->experiment();
    ASSERT_TRUE(same.ok());
    // Call paths with tags are listed first in the file, so that they come first when it is read.
    const bool tagged = std::ranges::any_of((*same)->callpaths(), [](const Named& c) { return !c.tags.empty(); });
    if (!tagged) check_experiment(**same, expected["experiment"], 0, false);
    check_models(**same, **(*again)->models(), expected["stored_models"], expected.value("predict_at", Json::array()));
    for (std::size_t m = 0; m < (*same)->measurement_count(); ++m) {
      ASSERT_TRUE(std::ranges::equal((*same)->values(m), (*experiment)->values(m)));
      ASSERT_TRUE(std::ranges::equal((*same)->shape(m), (*experiment)->shape(m)));
    }
  }
}

// Small, partly malformed files. Where the reference crashes a message is asked for; where it is merely strict and we
// promise better, the file must be read.
TEST(ExtrapReference, SmallFiles) {
  if (!have_data()) GTEST_SKIP() << "no reference data";
  const std::vector<std::string> kBetter = {"text_nested_points.txt", "text_five_params.txt", "jsonl_single_line.jsonl",
                                            "json_legacy_gap_ids.json"};
  const Json cases = load_json(data("errors/expected.json"));
  ASSERT_EQ(cases.size(), 58u);
  for (const auto& one : cases) {
    const std::string file = one["file"];
    SCOPED_TRACE(file);
    auto dataset = open_as(data("errors") / file, one["reader"], make_work());
    Result<ExperimentPtr> experiment =
        dataset.ok() ? (*dataset)->experiment() : Result<ExperimentPtr>(std::move(dataset).error());
    if (one["ok"]) {
      ASSERT_TRUE(experiment.ok()) << experiment.error().text();
      check_experiment(**experiment, one["experiment"]);
      continue;
    }
    if (std::find(kBetter.begin(), kBetter.end(), file) != kBetter.end()) {
      // The five-parameter file is incomplete otherwise: it only must not be refused for their number.
      if (file == "text_five_params.txt") {
        EXPECT_EQ(experiment.error().text().find("maximum of 4"), std::string::npos);
      } else {
        EXPECT_TRUE(experiment.ok()) << experiment.error().text();
      }
      continue;
    }
    ASSERT_FALSE(experiment.ok());
    const Error& error = experiment.error();
    EXPECT_NE(error.place().file.find(file), std::string::npos) << error.text();
    if (one["error_class"] == "Invalid Experiment Error" && file != "json_wrong_point_length.json") {
      EXPECT_EQ(error.what(), one["message"].get<std::string>());
    }
    EXPECT_FALSE(error.what().empty());
  }
}

}  // namespace
}  // namespace fathom::extrap::testing
