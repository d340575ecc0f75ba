// Reads the reference results (models with their figures) and compares ours with them.
#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "experiment/builder.hpp"
#include "io/file.hpp"
#include "io/inflate.hpp"
#include "model/fit.hpp"

namespace fathom::reference {

using Json = nlohmann::json;

inline std::filesystem::path folder() { return std::filesystem::path(FATHOM_SHARED_DATA) / "extrap"; }

inline std::string read_text(const std::filesystem::path& path) {
  auto blob = map_file(path);
  if (!blob.ok()) return {};
  Blob content = *blob;
  if (is_gzip(content.bytes())) {
    auto unpacked = gunzip(content, make_work(), std::uint64_t{1} << 30);
    if (!unpacked.ok()) return {};
    content = *unpacked;
  }
  const auto bytes = content.bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline Json read_json(const std::filesystem::path& path) { return Json::parse(read_text(path)); }

// NaN and infinities are texts.
inline double number(const Json& value) {
  if (value.is_string()) return std::strtod(value.get<std::string>().c_str(), nullptr);
  return value.get<double>();
}

inline std::vector<double> numbers(const Json& list) {
  std::vector<double> out;
  for (const auto& value : list) out.push_back(number(value));
  return out;
}

// The experiment of an expected file, from its table of statistics.
inline ExperimentPtr experiment_of(const Json& json) {
  ExperimentBuilder builder("expected", make_work());
  for (const auto& name : json["parameters"]) builder.parameter(name.get<std::string>());
  for (const auto& series : json["measurements"]) {
    const auto callpath = builder.callpath(series["callpath"].get<std::string>());
    const auto metric = builder.metric(series["metric"].get<std::string>());
    for (const auto& row : series["points"]) {
      const auto point = builder.point(numbers(row[0]));
      builder.add_statistics(callpath, metric, point,
                             {number(row[1]), number(row[2]), number(row[3]), number(row[4]), number(row[5])},
                             row[6].is_null() ? 0 : row[6].get<std::uint32_t>());
    }
  }
  return std::move(builder).finish().value();
}

// A file of the reference's newer JSON layout.
inline ExperimentPtr experiment_from_json(const Json& json) {
  ExperimentBuilder builder("input", make_work());
  for (const auto& name : json["parameters"]) builder.parameter(name.get<std::string>());
  for (const auto& [path, metrics] : json["measurements"].items()) {
    const auto callpath = builder.callpath(path);
    for (const auto& [name, points] : metrics.items()) {
      const auto metric = builder.metric(name);
      for (const auto& row : points) {
        builder.add(callpath, metric, builder.point(numbers(row["point"])), numbers(row["values"]));
      }
    }
  }
  return std::move(builder).finish().value();
}

// The generated inputs use the plainest form of each format.
inline ExperimentPtr experiment_from_lines(const std::string& text) {
  ExperimentBuilder builder("input", make_work());
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    const auto json = nlohmann::ordered_json::parse(line);  // parameters in the order of the file
    std::vector<double> point;
    for (const auto& [name, value] : json["params"].items()) {
      builder.parameter(name);
      point.push_back(value.get<double>());
    }
    builder.add(builder.callpath(json["callpath"].get<std::string>()),
                builder.metric(json["metric"].get<std::string>()), builder.point(point),
                json["value"].get<std::vector<double>>());
  }
  return std::move(builder).finish().value();
}
inline ExperimentPtr experiment_from_text(const std::string& text) {
  ExperimentBuilder builder("input", make_work());
  std::istringstream lines(text);
  std::string line;
  std::vector<std::uint32_t> points;
  std::uint32_t callpath = 0;
  std::uint32_t metric = 0;
  std::size_t row = 0;
  std::size_t width = 0;
  while (std::getline(lines, line)) {
    for (auto& c : line) c = c == '(' || c == ')' ? ' ' : c;
    std::istringstream words(line);
    std::string key;
    words >> key;
    if (key == "PARAMETER") {
      std::string name;
      words >> name;
      builder.parameter(name);
      ++width;
    } else if (key == "POINTS") {
      std::vector<double> point;
      for (double value = 0; words >> value;) {
        point.push_back(value);
        if (point.size() < width) continue;
        points.push_back(builder.point(point));
        point.clear();
      }
    } else if (key == "METRIC" || key == "REGION") {
      std::string name;
      words >> name;
      (key == "METRIC" ? metric : callpath) = key == "METRIC" ? builder.metric(name) : builder.callpath(name);
      row = 0;
    } else if (key == "DATA") {
      std::vector<double> values;
      for (std::string word; words >> word;) values.push_back(std::strtod(word.c_str(), nullptr));
      builder.add(callpath, metric, points[row++], values);
    }
  }
  return std::move(builder).finish().value();
}
inline ExperimentPtr read_synthetic(const std::string& name) {
  const std::string text = read_text(folder() / "synthetic" / "input" / (name + ".gz"));
  if (name.ends_with(".json")) return experiment_from_json(Json::parse(text));
  return name.ends_with(".jsonl") ? experiment_from_lines(text) : experiment_from_text(text);
}

inline Measure measure_named(const std::string& name) {
  for (const auto measure : {Measure::mean, Measure::median, Measure::minimum, Measure::maximum}) {
    if (to_string(measure) == name) return measure;
  }
  return Measure::mean;
}

inline std::vector<std::string> key_values(const Json& options) {
  std::vector<std::string> out;
  for (const auto& [key, value] : options.items()) {
    out.push_back(key + "=" + (value.is_string() ? value.get<std::string>() : value.dump()));
  }
  return out;
}

// " + 0p3/2 0l1": the structure without coefficients.
inline std::string shape_of(const Function& function) {
  std::string shape;
  for (const auto& segment : function.segments) {
    shape += " [" + python_number(segment.from) + ".." + python_number(segment.to) + shape_of(segment.function) + "]";
  }
  for (const auto& term : function.terms) {
    shape += " +";
    for (const auto& factor : term.factors) {
      const std::string name = " " + std::to_string(factor.parameter);
      if (!factor.power.zero()) shape += name + "p" + factor.power.text();
      if (!factor.log.zero()) shape += name + "l" + factor.log.text();
      if (!factor.segments.empty()) {
        Function inner{0, {}, factor.segments};  // whose parameter the reference's files call 0
        for (auto& segment : inner.segments) {
          for (auto& part : segment.function.terms) part.factors.front().parameter = 0;
        }
        shape += name + shape_of(inner);
      }
    }
  }
  return shape;
}
inline std::string shape_of(const Json& model) {
  std::string shape;
  if (model.contains("segments")) {
    for (std::size_t s = 0; s < model["segments"].size(); ++s) {
      shape += " [" + python_number(number(model["intervals"][s][0])) + ".." +
               python_number(number(model["intervals"][s][1])) + shape_of(model["segments"][s]) + "]";
    }
    return shape;
  }
  for (const auto& term : model["terms"]) {
    shape += " +";
    for (const auto& factor : term["f"]) {
      const std::string name = " " + std::to_string(factor[0].get<int>());
      if (factor[1].is_object()) {
        shape += name + shape_of(factor[1]);
        continue;
      }
      for (const auto& part : factor[1]) shape += name + part[0].get<std::string>() + part[1].get<std::string>();
    }
  }
  return shape;
}

inline bool near(double ours, double theirs, double relative, double absolute) {
  if (std::isnan(theirs) || std::isnan(ours)) return std::isnan(theirs) && std::isnan(ours);
  if (std::isinf(theirs) || std::isinf(ours)) return theirs == ours;
  return std::fabs(ours - theirs) <= std::max(relative * std::max(std::fabs(theirs), std::fabs(ours)), absolute);
}

struct Comparison {
  bool same_function = true;
  std::string difference;  // "" = equal
};

inline void compare_function(const Function& ours, const Json& theirs, double largest, Comparison& result) {
  if (shape_of(ours) != shape_of(theirs)) {
    result.same_function = false;
    result.difference += "; terms" + shape_of(ours) + " instead of" + shape_of(theirs);
    return;
  }
  const auto check = [&](const char* what, double a, double b) {
    if (!near(a, b, 1e-6, 1e-9 * largest)) {
      result.difference += std::string("; ") + what + " " + python_number(a) + " instead of " + python_number(b);
    }
  };
  check("constant", ours.constant, number(theirs["c0"]));
  for (std::size_t t = 0; t < ours.terms.size(); ++t) {
    const double a = ours.terms[t].coefficient;
    const double b = number(theirs["terms"][t]["c"]);
    if (!near(a, b, 1e-6, 0)) {
      result.difference += "; coefficient " + python_number(a) + " instead of " + python_number(b);
    }
  }
}

// `largest`: of the values, the scale below which differences are rounding.
inline Comparison compare(const Model& model, const Json& expected, const Json& predict_at, double largest) {
  Comparison result;
  const Json& theirs = expected["model"];
  if (theirs.contains("segments")) {
    if (model.function.segments.size() != theirs["segments"].size()) {
      return {false, "; " + std::to_string(model.function.segments.size()) + " segments"};
    }
    if (shape_of(model.function) != shape_of(theirs)) {
      return {false, "; terms" + shape_of(model.function) + " instead of" + shape_of(theirs)};
    }
    for (std::size_t s = 0; s < model.function.segments.size(); ++s) {
      compare_function(model.function.segments[s].function, theirs["segments"][s], largest, result);
    }
  } else if (!model.function.segments.empty()) {
    return {false, "; segmented"};
  } else {
    compare_function(model.function, theirs, largest, result);
  }
  if (!result.same_function) return result;
  const double squares = 1e-9 * largest * 1e-9 * largest;
  const auto figure = [&](const char* name, double ours, double relative, double absolute) {
    const double value = number(expected[name]);
    if (!near(ours, value, relative, absolute)) {
      result.difference += std::string("; ") + name + " " + python_number(ours) + " instead of " + python_number(value);
    }
  };
  figure("SMAPE", model.quality.smape, 0, 1e-6);
  figure("RSS", model.quality.rss, 1e-6, squares);
  figure("rRSS", model.quality.rrss, 1e-6, 1e-15);
  figure("RE", model.quality.re, 1e-6, 1e-9);
  figure("AR2", model.quality.ar2, 1e-6, 1e-9);
  figure("nRSS", model.quality.nrss, 1e-6, 1e-9);
  for (std::size_t i = 0; i < predict_at.size(); ++i) {
    const double ours = model.function(numbers(predict_at[i]));
    const double value = number(expected["pred"][i]);
    if (!near(ours, value, 1e-6, 1e-9 * largest)) {
      result.difference += "; prediction " + python_number(ours) + " instead of " + python_number(value);
    }
  }
  return result;
}

inline double largest_value(const Experiment& experiment, const Series& series) {
  double largest = 0;
  for (std::size_t k = 0; k < experiment.points_of(series).size(); ++k) {
    for (const auto values : {experiment.maxima(), experiment.minima()}) {
      const double size = std::fabs(values[series.first + k]);
      if (std::isfinite(size)) largest = std::max(largest, size);
    }
  }
  return largest;
}

struct Tally {
  std::size_t compared = 0;
  std::vector<std::string> differences;
};

// Fits what a run of the reference fitted and compares every result.
inline void compare_run(const std::string& name, const Experiment& experiment, const Json& run, Tally& tally) {
  const std::string label = name + " " + run["modeler"].get<std::string>() + " " + run["measure"].get<std::string>() +
                            " " + run["options"].dump();
  const auto options = fit_options(run["modeler"].get<std::string>(), experiment.parameters().size(),
                                   measure_named(run["measure"].get<std::string>()), key_values(run["options"]));
  if (!options.ok()) {
    tally.differences.push_back(label + ": " + options.error().text());
    return;
  }
  const auto set = fit(experiment, *options, make_work());
  if (!set.ok()) {
    tally.differences.push_back(label + ": " + set.error().text());
    return;
  }
  if (!run.contains("results")) return;  // the reference failed
  for (const auto& expected : run["results"]) {
    const auto path = expected["callpath"].get<std::string>();
    const auto metric = expected["metric"].get<std::string>();
    for (const auto& model : set->models) {
      const auto& series = experiment.series()[model.series];
      if (experiment.callpaths()[series.callpath].name != path || experiment.metrics()[series.metric].name != metric) {
        continue;
      }
      ++tally.compared;
      const auto result = compare(model, expected, run["predict_at"], largest_value(experiment, series));
      if (result.difference.empty()) break;
      std::string line = label + " " + path + " " + metric + result.difference;
      if (!result.same_function) {
        line +=
            "; SMAPE " + python_number(model.quality.smape) + " instead of " + python_number(number(expected["SMAPE"]));
      }
      tally.differences.push_back(line);
      break;
    }
  }
}

}  // namespace fathom::reference
