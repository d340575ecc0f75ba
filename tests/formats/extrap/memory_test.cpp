// What an experiment takes in memory counts against the budget, whatever format it comes from.
#include <gtest/gtest.h>

#include <fstream>

#include "experiment/builder.hpp"
#include "experiment/unit.hpp"
#include "formats/registry.hpp"
#include "temporary_directory.hpp"

namespace fathom {
namespace {

constexpr int kCallpaths = 2000;
constexpr std::uint64_t kEnough = std::uint64_t{64} << 20;
constexpr std::uint64_t kTooLittle = 200'000;  // less than the 10,000 measurements need, more than opening a file does

std::string made(const std::string& kind) {
  std::string text;
  if (kind == "text") text = "PARAMETER p\nPOINTS 1 2 4 8 16\nMETRIC t\n";
  if (kind == "json") text = R"({"parameters":["p"],"measurements":{)";
  if (kind == "legacy") {
    text = R"({"parameters":[{"id":1,"name":"p"}],"metrics":[{"id":1,"name":"t"}],"coordinates":[)";
    for (int i = 0; i < 5; ++i) {
      text += (i > 0 ? "," : "") + std::string(R"({"id":)") + std::to_string(i + 1) +
              R"(,"parameter_value_pairs":[{"parameter_id":1,"parameter_value":)" + std::to_string(1 << i) + "}]}";
    }
    text += R"(],"callpaths":[)";
    for (int c = 0; c < kCallpaths; ++c) {
      text += (c > 0 ? "," : "") + std::string(R"({"id":)") + std::to_string(c + 1) + R"(,"name":"f)" +
              std::to_string(c) + "\"}";
    }
    text += R"(],"measurements":[)";
  }
  for (int c = 0; c < kCallpaths; ++c) {
    const std::string name = "f" + std::to_string(c);
    if (kind == "text") text += "REGION " + name + "\n";
    if (kind == "json") text += (c > 0 ? ",\"" : "\"") + name + R"(":{"t":[)";
    for (int i = 0; i < 5; ++i) {
      const std::string p = std::to_string(1 << i);
      if (kind == "text") text += "DATA 1 2 3\n";
      if (kind == "json") text += (i > 0 ? "," : "") + std::string(R"({"point":[)") + p + R"(],"values":[1,2,3]})";
      if (kind == "jsonl") {
        text += R"({"params":{"p":)" + p + R"(},"callpath":")" + name + R"(","metric":"t","value":[1,2,3]})" + "\n";
      }
      if (kind == "talpas") {
        text += R"({"parameters":{"p":)" + p + R"(};"callpath":")" + name + R"(";"metric":"t";"value":1})" + "\n";
      }
      if (kind == "legacy") {
        text += (c + i > 0 ? "," : "") + std::string(R"({"id":1,"metric_id":1,"value":1.5,"callpath_id":)") +
                std::to_string(c + 1) + R"(,"coordinate_id":)" + std::to_string(i + 1) + "}";
      }
    }
    if (kind == "json") text += "]}";
  }
  if (kind == "json") text += "}}";
  if (kind == "legacy") text += "]}";
  return text;
}

class ExperimentMemory : public testing::TestWithParam<const char*> {};

TEST_P(ExperimentMemory, CountsAgainstTheBudget) {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "made";
  std::ofstream(path) << made(GetParam());
  {
    const Work work = make_work(false, kEnough);
    const auto dataset = open_dataset(path, work);
    ASSERT_TRUE(dataset.ok()) << dataset.error().text();
    const auto experiment = (*dataset)->experiment();
    ASSERT_TRUE(experiment.ok());
    // Statistics alone take 52 bytes for each of the measurements.
    EXPECT_GT(work->budget.used(), (*experiment)->measurement_count() * 52);
    EXPECT_LT(work->budget.used(), 4'000'000U);
  }
  const auto refused = open_dataset(path, make_work(false, kTooLittle));
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().text().find("no longer fits"), std::string::npos) << refused.error().text();
  EXPECT_NE(refused.error().text().find("made"), std::string::npos);
  EXPECT_NE(refused.error().hint().find("--max-memory"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Formats, ExperimentMemory, testing::Values("text", "json", "legacy", "jsonl", "talpas"),
                         [](const auto& name) { return std::string(name.param); });

TEST(ExperimentMemory, IsGivenBackWithTheExperiment) {
  const Work work = make_work(false, kEnough);
  {
    ExperimentBuilder builder("x", work);
    builder.parameter("p");
    const double values[] = {1, 2};
    for (int i = 0; i < 1000; ++i)
      builder.add(builder.callpath("f"), builder.metric("t"), builder.point({values, 1}), values);
    EXPECT_GT(work->budget.used(), 48'000U);
    const auto experiment = std::move(builder).finish();
    ASSERT_TRUE(experiment.ok());
    EXPECT_GT(work->budget.used(), 68'000U);  // 52 and two values of 8 bytes each
  }
  EXPECT_EQ(work->budget.used(), 0U);
}

TEST(ExperimentMemory, ABuilderTakesNothingMoreOnceTheBudgetIsUsedUp) {
  ExperimentBuilder builder("x", make_work(false, 100'000));
  builder.parameter("p");
  const double values[] = {1, 2};
  for (int i = 0; i < 100'000; ++i)
    builder.add(builder.callpath("f"), builder.metric("t"), builder.point({values, 1}), values);
  EXPECT_FALSE(builder.ok());
  EXPECT_LT(builder.record_count(), 100'000 / 48U);
  EXPECT_FALSE(std::move(builder).finish().ok());
}

TEST(MetricUnit, IsATagAndReadsBack) {
  Named metric{"time", {}};
  EXPECT_EQ(unit_of(metric), "");
  set_unit(metric.tags, "");
  EXPECT_TRUE(metric.tags.empty());
  set_unit(metric.tags, "\"s\"");
  set_unit(metric.tags, "bytes");  // the first stays
  EXPECT_EQ(unit_of(metric), "\"s\"");
  metric.tags = {{"unit", "5"}};
  EXPECT_EQ(unit_of(metric), "");
}

}  // namespace
}  // namespace fathom
