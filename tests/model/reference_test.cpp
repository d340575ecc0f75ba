// All reference results: the same functions, coefficients and figures, without exception. Where candidates tie the
// reference's rounding decided; the modelers solve those cases with the routine that it used, LAPACK's dgelsd as
// Debian builds it. Another LAPACK may decide them otherwise.
#include "model/reference.hpp"

#include <gtest/gtest.h>

#include <array>

namespace fathom {
namespace {

using reference::Json;
using reference::Tally;

void report(const Tally& tally) {
  for (std::size_t i = 0; i < std::min<std::size_t>(tally.differences.size(), 20); ++i) {
    ADD_FAILURE() << tally.differences[i];
  }
  EXPECT_EQ(tally.differences.size(), 0U) << "of " << tally.compared;
}

TEST(ReferenceModels, PublicInputs) {
  const auto folder = reference::folder() / "expected";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no reference results at " << folder;
  Tally tally;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    const Json json = reference::read_json(file);
    if (!json.contains("experiment") || !json.contains("models")) continue;
    const auto experiment = reference::experiment_of(json["experiment"]);
    for (const auto& run : json["models"]) {
      reference::compare_run(file.stem().stem().string(), *experiment, run, tally);
    }
  }
  EXPECT_GE(tally.compared, 4446U);
  report(tally);
}

TEST(ReferenceModels, EdgeCases) {
  const auto file = reference::folder() / "edge" / "cases.json";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "no reference results at " << file;
  Tally tally;
  for (const auto& json : reference::read_json(file)) {
    ExperimentBuilder builder("edge", make_work());
    const auto width = json["points"][0].size();
    for (std::size_t p = 0; p < width; ++p) builder.parameter(std::string(1, "xyzw"[p]));
    const auto callpath = builder.callpath("main");
    const auto metric = builder.metric("time");
    for (std::size_t k = 0; k < json["points"].size(); ++k) {
      builder.add(callpath, metric, builder.point(reference::numbers(json["points"][k])),
                  reference::numbers(json["values"][k]));
    }
    const auto experiment = std::move(builder).finish().value();
    Json run = json;
    if (json.contains("expected")) {
      Json expected = json["expected"];
      expected["callpath"] = "main";
      expected["metric"] = "time";
      run["results"] = Json::array({expected});
    }
    reference::compare_run(json["name"].get<std::string>(), *experiment, run, tally);
  }
  EXPECT_GT(tally.compared, 55U);
  report(tally);
}

TEST(ReferenceModels, SyntheticSets) {
  const auto folder = reference::folder() / "synthetic";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no reference results at " << folder;
  Tally tally;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "expected")) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    const Json json = reference::read_json(file);
    const auto experiment = reference::read_synthetic(json["input"].get<std::string>());
    for (const auto& run : json["models"]) {
      reference::compare_run(file.stem().stem().stem().string(), *experiment, run, tally);
    }
  }
  EXPECT_GT(tally.compared, 6000U);
  report(tally);
}

}  // namespace
}  // namespace fathom
