// Comparison of an experiment and its models with the reference's results.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "experiment/experiment.hpp"
#include "io/file.hpp"
#include "model/model.hpp"

namespace fathom::extrap::testing {

using Json = nlohmann::json;

inline std::filesystem::path data(const std::string& name = "") {
  return std::filesystem::path(FATHOM_SHARED_DATA) / "extrap" / name;
}
inline bool have_data() { return std::filesystem::exists(data()); }

inline Json load_json(const std::filesystem::path& path) {
  auto blob = open_file(path, make_work());
  EXPECT_TRUE(blob.ok()) << path;
  return blob.ok() ? Json::parse(blob->text()) : Json();
}

inline double number(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return std::nan("");
  const auto text = value.get<std::string>();
  if (text == "inf" || text == "Infinity") return INFINITY;
  if (text == "-inf" || text == "-Infinity") return -INFINITY;
  return std::nan("");
}

// A prediction of several; a lone number stands for all of them.
inline const Json& item(const Json& list, std::size_t i) { return list.is_array() ? list[i] : list; }

inline bool close(double a, double b, double relative = 1e-9, double absolute = 1e-300) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (a == b) return true;
  return std::fabs(a - b) <= relative * std::max(std::fabs(a), std::fabs(b)) + absolute;
}

inline void check_tree(const CallTree& tree, std::uint32_t node, const Json& expected, const Experiment& e) {
  const auto& children = tree.nodes[node].children;
  ASSERT_EQ(children.size(), expected.size()) << "children of " << tree.nodes[node].name;
  for (std::size_t i = 0; i < children.size(); ++i) {
    const CallTree::Node& child = tree.nodes[children[i]];
    EXPECT_EQ(child.name, expected[i][0].get<std::string>());
    if (expected[i][1].is_null()) {
      // The reference takes an empty name for none.
      EXPECT_TRUE(child.callpath == CallTree::kNone || e.callpaths()[child.callpath].name.empty()) << child.name;
    } else {
      ASSERT_NE(child.callpath, CallTree::kNone) << child.name;
      EXPECT_EQ(e.callpaths()[child.callpath].name, expected[i][1].get<std::string>());
    }
    check_tree(tree, children[i], expected[i][2], e);
  }
}

// Everything that an expected file says about an experiment.
inline void check_experiment(const Experiment& e, const Json& expected, double tolerance = 1e-9, bool in_order = true) {
  EXPECT_EQ(e.parameters(), expected["parameters"].get<std::vector<std::string>>());
  ASSERT_EQ(e.point_count(), expected["coordinates"].size());
  for (std::size_t i = 0; i < e.point_count(); ++i) {
    const auto& point = expected["coordinates"][i];
    ASSERT_EQ(e.point(i).size(), point.size());
    for (std::size_t p = 0; p < point.size(); ++p) EXPECT_EQ(e.point(i)[p], number(point[p]));
  }
  std::vector<std::string> metrics;
  for (const Named& m : e.metrics()) metrics.push_back(m.name);
  EXPECT_EQ(metrics, expected["metrics"].get<std::vector<std::string>>());
  std::vector<std::string> callpaths;
  for (const Named& c : e.callpaths()) callpaths.push_back(c.name);
  EXPECT_TRUE(callpaths == expected["callpaths"].get<std::vector<std::string>>()) << "order or names of call paths";
  EXPECT_EQ(std::string(to_string(e.scaling())),
            expected["scaling"].is_null() ? "" : expected["scaling"].get<std::string>());
  if (expected.contains("calltree")) check_tree(e.call_tree(), 0, expected["calltree"], e);
  const auto& columns = expected["measurements_columns"];
  ASSERT_EQ(columns[1], "mean");
  ASSERT_EQ(e.series().size(), expected["measurements"].size());
  for (std::size_t s = 0; s < e.series().size(); ++s) {
    const auto& own = expected["measurements"][s];
    std::size_t position = s;
    // .extra-p groups series by call path, whatever their order was before.
    while (!in_order && position < e.series().size() &&
           (e.callpaths()[e.series()[position].callpath].name != own["callpath"].get<std::string>() ||
            e.metrics()[e.series()[position].metric].name != own["metric"].get<std::string>())) {
      position = (position + 1) % e.series().size();
      ASSERT_NE(position, s) << own["callpath"];
    }
    const Series& series = e.series()[position];
    const std::string name = own["callpath"].get<std::string>() + " / " + own["metric"].get<std::string>();
    ASSERT_EQ(e.callpaths()[series.callpath].name, own["callpath"].get<std::string>());
    ASSERT_EQ(e.metrics()[series.metric].name, own["metric"].get<std::string>());
    const auto points = e.points_of(series);
    ASSERT_EQ(points.size(), own["points"].size()) << name;
    for (std::size_t k = 0; k < points.size(); ++k) {
      const auto& row = own["points"][k];
      const std::size_t m = series.first + k;
      for (std::size_t p = 0; p < row[0].size(); ++p) EXPECT_EQ(e.point(points[k])[p], number(item(row[0], p))) << name;
      const double scale = std::fabs(number(row[4])) * 1e-12;
      EXPECT_TRUE(close(e.means()[m], number(row[1]), tolerance, scale))
          << name << ' ' << k << " mean " << e.means()[m] << " vs " << row[1];
      EXPECT_TRUE(close(e.medians()[m], number(row[2]), tolerance, scale))
          << name << ' ' << k << " median " << e.medians()[m] << " vs " << row[2];
      EXPECT_TRUE(close(e.minima()[m], number(row[3]), tolerance, scale))
          << name << ' ' << k << " minimum " << e.minima()[m] << " vs " << row[3];
      EXPECT_TRUE(close(e.maxima()[m], number(row[4]), tolerance, scale))
          << name << ' ' << k << " maximum " << e.maxima()[m] << " vs " << row[4];
      EXPECT_TRUE(close(e.deviations()[m], number(row[5]), 1e-6, scale))
          << name << ' ' << k << " std " << e.deviations()[m] << " vs " << row[5];
      const double repetitions = row[6].is_null() ? 0 : number(row[6]);
      EXPECT_EQ(e.repetitions()[m], repetitions) << name << ' ' << k;
    }
    if (::testing::Test::HasFailure()) return;  // one series is enough to see what is wrong
  }
}

// Models that a file stores.
inline void check_models(const Experiment& e, const ModelSets& sets, const Json& expected, const Json& predict_at) {
  ASSERT_EQ(sets.size(), expected.size());
  for (std::size_t s = 0; s < sets.size(); ++s) {
    const auto& results = expected[s]["results"];
    EXPECT_EQ(sets[s].name, expected[s]["name"].get<std::string>());
    if (expected[s].contains("measure")) {
      EXPECT_EQ(to_string(sets[s].modeler.measure), expected[s]["measure"].get<std::string>());
    }
    std::map<std::pair<std::string, std::string>, const Model*> models;
    for (const Model& m : sets[s].models) {
      const Series& series = e.series()[m.series];
      models[{e.callpaths()[series.callpath].name, e.metrics()[series.metric].name}] = &m;
    }
    ASSERT_EQ(models.size(), results.size());
    for (const auto& result : results) {
      const auto found = models.find({result["callpath"].get<std::string>(), result["metric"].get<std::string>()});
      ASSERT_NE(found, models.end()) << result["callpath"];
      const Model& m = *found->second;
      EXPECT_EQ(text(m.function, e.parameters()), result["function"].get<std::string>());
      if (result.contains("python")) {
        EXPECT_EQ(text(m.function, e.parameters(), FunctionForm::python), result["python"].get<std::string>());
      }
      if (result.contains("latex") && result["latex"].is_string()) {
        EXPECT_EQ(text(m.function, e.parameters(), FunctionForm::latex), result["latex"].get<std::string>());
      }
      EXPECT_TRUE(close(m.quality.rss, number(result["RSS"]))) << result["callpath"];
      EXPECT_TRUE(close(m.quality.smape, number(result["SMAPE"]))) << result["callpath"];
      EXPECT_TRUE(close(m.quality.ar2, number(result["AR2"]))) << result["callpath"];
      for (std::size_t i = 0; i < predict_at.size(); ++i) {
        const auto at = predict_at[i].get<std::vector<double>>();
        EXPECT_TRUE(close(m.function(at), number(item(result["pred"], i))))
            << m.function(at) << " vs " << result["pred"];
      }
      if (::testing::Test::HasFailure()) return;
    }
  }
}

}  // namespace fathom::extrap::testing
