// Every writable format from every other: nothing that both can hold is lost.
#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "formats/extrap/expected.hpp"
#include "formats/registry.hpp"
#include "temporary_directory.hpp"

namespace fathom::extrap::testing {
namespace {

using Key = std::tuple<std::string, std::string, std::vector<double>>;  // call path, metric, point
struct Content {
  std::vector<std::string> parameters;
  std::map<Key, std::vector<double>> values;      // flattened
  std::map<Key, std::vector<double>> statistics;  // mean, median, minimum, maximum, deviation
  bool operator==(const Content&) const = default;
};

Content content(const Experiment& e) {
  Content all;
  all.parameters = e.parameters();
  for (const Series& s : e.series()) {
    const auto points = e.points_of(s);
    for (std::size_t k = 0; k < points.size(); ++k) {
      const std::size_t m = s.first + k;
      const auto point = e.point(points[k]);
      const Key key{e.callpaths()[s.callpath].name, e.metrics()[s.metric].name, {point.begin(), point.end()}};
      all.values[key].assign(e.values(m).begin(), e.values(m).end());
      all.statistics[key] = {e.means()[m], e.medians()[m], e.minima()[m], e.maxima()[m], e.deviations()[m]};
    }
  }
  return all;
}

constexpr const char* kTargets[][2] = {
    {"extrap-text", "x.txt"}, {"extrap-json", "x.json"}, {"extrap-jsonl", "x.jsonl"}, {"extra-p", "x.extra-p"}};

DatasetPtr converted(Dataset& dataset, const char* const (&target)[2], const std::filesystem::path& folder) {
  WriteOptions options;
  if (std::string_view(target[0]) == "extra-p") options.options.emplace_back("keep_values", "true");
  const auto path = folder / target[1];
  const auto written = (*find_format(target[0]))->write(dataset, path, options);
  EXPECT_TRUE(written.ok()) << written.error().text();
  auto again = open_dataset(path, make_work());
  EXPECT_TRUE(again.ok()) << again.error().text();
  if (!again.ok()) return nullptr;
  EXPECT_EQ((*again)->format().name, target[0]);
  return std::move(*again);
}

void every_pair(Dataset& dataset) {
  const auto experiment = dataset.experiment();
  ASSERT_TRUE(experiment.ok()) << experiment.error().text();
  const Content before = content(**experiment);
  ASSERT_FALSE(before.values.empty());
  for (const auto& first : kTargets) {
    const TemporaryDirectory one;
    const DatasetPtr middle = converted(dataset, first, one.path());
    ASSERT_NE(middle, nullptr);
    EXPECT_TRUE(content(**middle->experiment()) == before) << first[0];
    for (const auto& second : kTargets) {
      const TemporaryDirectory two;
      const DatasetPtr last = converted(*middle, second, two.path());
      ASSERT_NE(last, nullptr);
      EXPECT_TRUE(content(**last->experiment()) == before) << first[0] << " to " << second[0];
    }
  }
}

TEST(ExtrapConvert, EveryPairOfWritableFormats) {
  const char* kOdd =
      R"({"parameters":["p","n"],"measurements":{"main->\"q\" \\ é":{"time":[{"point":[1,2.5],"values":[[1,2],[3]]},)"
      R"({"point":[2,1e-300],"values":[0.1]}]},"f":{"bytes":[{"point":[1,2.5],"values":[1e300,-0.5]},)"
      R"({"point":[2,1e-300],"values":[9007199254740993]}]}}})";
  auto dataset = open_source(Source::of(Blob::own("odd.json", std::string(kOdd))), make_work());
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  every_pair(**dataset);
}

TEST(ExtrapConvert, EveryPairOnRealFiles) {
  if (!have_data()) GTEST_SKIP() << "no reference data";
  for (const char* name : {"text/one_parameter_6.txt", "text/three_parameter_3.txt", "json/new/input1.json",
                           "talpas/talpas_1.txt", "jsonlines/test1.jsonl", "cubeset/single_parameter"}) {
    const auto path = data("inputs") / name;
    if (!std::filesystem::exists(path)) continue;
    SCOPED_TRACE(name);
    auto dataset = open_dataset(path, make_work());
    ASSERT_TRUE(dataset.ok()) << dataset.error().text();
    every_pair(**dataset);
  }
}

TEST(ExtrapConvert, WhatTextCannotHoldIsSaid) {
  const TemporaryDirectory directory;
  const auto write = [&](const char* json, const Work& work) {
    auto dataset = open_source(Source::of(Blob::own("x.json", std::string(json))), work);
    EXPECT_TRUE(dataset.ok());
    return (*find_format("extrap-text"))->write(**dataset, directory / "x.txt", {});
  };
  const Work work = make_work();
  ASSERT_TRUE(set_reading_option(*work, "allow-incomplete", "true").ok());
  const auto incomplete =
      write(R"({"parameters":["p"],"measurements":{"a":{"t":[{"point":[1],"values":[1]},{"point":[2],"values":[1]}]},)"
            R"("b":{"t":[{"point":[1],"values":[1]}]}}})",
            work);
  ASSERT_FALSE(incomplete.ok());
  EXPECT_NE(incomplete.error().text().find("cannot leave points out"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(directory / "x.txt"));
  const auto blank =
      write(R"({"parameters":["a b"],"measurements":{"a":{"t":[{"point":[1],"values":[1]}]}}})", make_work());
  EXPECT_FALSE(blank.ok());
  const Work noted = make_work();
  EXPECT_TRUE(write(R"({"parameters":["p"],"measurements":{"a\nb":{"t":[{"point":[1],"values":[1]}]}}})", noted).ok());
  ASSERT_EQ(noted->diagnostics.all().size(), 1u);
  EXPECT_EQ(noted->diagnostics.all()[0].id, "experiment.white_space");
}

}  // namespace
}  // namespace fathom::extrap::testing
