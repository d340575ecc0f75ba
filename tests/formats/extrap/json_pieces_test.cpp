// Large JSON experiments are read in pieces, by one or several threads: the outcome is that of reading them in one go.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/execution.hpp"
#include "experiment/experiment.hpp"
#include "formats/registry.hpp"

namespace fathom {
namespace {

constexpr int kCallpaths = 8000;  // some pieces

std::string name_of(int callpath) {
  // Every other name looks like the place between two call paths.
  return "main->f" + std::to_string(callpath) + (callpath % 2 == 0 ? "]},\\\"x" : "");
}

std::string measurement(int callpath, int point) {
  std::string values = std::to_string(callpath) + ".5, " + std::to_string(point);
  if (callpath % 100 == 7) values = "[" + values + "], [1e3, -2]";  // two repetitions of two values
  return R"({"point": [)" + std::to_string(1 << point) + R"(], "values": [)" + values + "]}";
}

// Call paths 5, 15, ... have a second metric; `broken` has a measurement without a point.
std::string made(int broken = -1) {
  std::string text = R"({"parameters": ["p"], "measurements": {)";
  for (int c = 0; c < kCallpaths; ++c) {
    text += (c > 0 ? ", \"" : "\"") + name_of(c) + "\": {";
    for (const char* metric : {"time", "visits"}) {
      if (metric == std::string_view("visits") && c % 10 != 5) continue;
      text += std::string(metric == std::string_view("visits") ? "," : "") + "\"" + metric + "\": [";
      for (int p = 0; p < 5; ++p) text += (p > 0 ? ", " : "") + measurement(c, p);
      text += "]";
    }
    if (c == broken) text += R"(, "time": [{"values": [1]}])";
    text += "}";
  }
  return text + "}}";
}

Result<ExperimentPtr> read(std::string text) {
  FATHOM_TRY(const DatasetPtr dataset,
             open_source(Source::of(Blob::own("pieces.json", std::move(text))), make_work(), "extrap-json"));
  return dataset->experiment();
}

class JsonInPieces : public testing::TestWithParam<unsigned> {
  Execution execution_{GetParam()};
  ExecutionScope scope_{execution_};
};
INSTANTIATE_TEST_SUITE_P(Threads, JsonInPieces, testing::Values(1U, 4U));

TEST_P(JsonInPieces, IsWhatTheFileSays) {
  const std::string text = made();
  ASSERT_GT(text.size(), std::size_t{4} << 18);
  const auto experiment = read(text);
  ASSERT_TRUE(experiment.ok()) << experiment.error().text();
  const Experiment& e = **experiment;
  ASSERT_EQ(e.callpaths().size(), kCallpaths);
  ASSERT_EQ(e.metrics().size(), 2U);
  ASSERT_EQ(e.point_count(), 5U);
  ASSERT_EQ(e.series().size(), kCallpaths + kCallpaths / 10);
  for (int c = 0; c < kCallpaths; ++c) {
    const std::string plain = "main->f" + std::to_string(c) + (c % 2 == 0 ? "]},\"x" : "");
    ASSERT_EQ(e.callpaths()[static_cast<std::size_t>(c)].name, plain);
    const auto series = e.find_series(static_cast<std::uint32_t>(c), 0);
    ASSERT_GE(series, 0);
    EXPECT_EQ(e.find_series(static_cast<std::uint32_t>(c), 1) >= 0, c % 10 == 5);
    for (std::size_t p = 0; p < 5; ++p) {
      const std::size_t at = e.series()[static_cast<std::size_t>(series)].first + p;
      const double first = c + 0.5;
      const double second = static_cast<double>(p);
      const bool nested = c % 100 == 7;
      const std::vector<double> expected =
          nested ? std::vector<double>{first, second, 1000, -2} : std::vector<double>{first, second};
      ASSERT_EQ(std::vector<double>(e.values(at).begin(), e.values(at).end()), expected);
      EXPECT_EQ(e.shape(at).empty(), !nested);
      EXPECT_EQ(e.repetitions()[at], 2U);
      EXPECT_DOUBLE_EQ(e.means()[at], nested ? (first + second + 998) / 4 : (first + second) / 2);
    }
  }
}

TEST_P(JsonInPieces, ErrorsSayWhereAndWhat) {
  for (const int broken : {0, kCallpaths / 2, kCallpaths - 1}) {
    const std::string text = made(broken);
    const auto experiment = read(text);
    ASSERT_FALSE(experiment.ok());
    const std::string message = experiment.error().text();
    EXPECT_NE(message.find("the key 'point' is missing"), std::string::npos) << message;
    EXPECT_NE(message.find("main->f" + std::to_string(broken)), std::string::npos) << message;
    const auto place = text.find(R"({"values": [1]})");
    EXPECT_NE(message.find(fmt::format("pieces.json:{:#x}:", place)), std::string::npos) << message << " for " << place;
  }
}

TEST_P(JsonInPieces, FilesThatAreCutOffAreErrors) {
  const std::string text = made();
  for (std::size_t size = 0; size < text.size(); size += 65'537) EXPECT_FALSE(read(text.substr(0, size)).ok()) << size;
  EXPECT_FALSE(read(text.substr(0, text.size() - 1)).ok());
  EXPECT_FALSE(read(text + "}").ok());
  EXPECT_TRUE(read(text + " \n").ok());
}

}  // namespace
}  // namespace fathom
