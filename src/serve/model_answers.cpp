#include "serve/model_answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/json.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "experiment/unit.hpp"
#include "model/advisor.hpp"
#include "model/fit.hpp"
#include "model/predict.hpp"
#include "model/ranking.hpp"

namespace fathom::serve {

namespace {
constexpr std::size_t kMostSets = 8;           // kept
constexpr std::size_t kMostRepetitions = 200;  // of a point: more cannot be told apart in a plot
}  // namespace

Result<const ModelAnswers::Fitted*> ModelAnswers::fitted(const Request& request) {
  const std::string modeler(request.get("modeler", "default"));
  const std::string_view wanted = request.get("measure", "mean");
  std::optional<Measure> measure;
  for (const Measure m : {Measure::mean, Measure::median, Measure::minimum, Measure::maximum}) {
    if (to_string(m) == wanted) measure = m;
  }
  if (!measure) return Error::usage("the measure is mean, median, minimum or maximum");
  const std::string key = fmt::format("{} {}", modeler, wanted);
  auto found = fitted_.find(key);
  if (found == fitted_.end()) {
    if (fitted_.size() >= kMostSets) fitted_.clear();
    Fitted made;
    FATHOM_TRY(made.options, fit_options(modeler, experiment_->parameters().size(), *measure));
    FATHOM_TRY(made.set, fit(*experiment_, made.options, work_));
    found = fitted_.emplace(key, std::move(made)).first;
  }
  return &found->second;
}

Result<Answer> ModelAnswers::advice(const Request& request) {
  const Experiment& e = *experiment_;
  const auto number_of = [](std::string_view name, const auto& list, const auto& spelled) -> Result<std::uint32_t> {
    const auto found = std::find_if(list.begin(), list.end(), [&](const auto& one) { return spelled(one) == name; });
    if (found == list.end()) return Error::usage(fmt::format("there is no '{}'", name));
    return static_cast<std::uint32_t>(found - list.begin());
  };
  AdvisorOptions options;
  const auto budget = parse_double(request.get("budget"));
  if (!budget || !(*budget > 0)) return Error::usage("the budget is a number above 0: processes times seconds");
  options.budget = *budget;
  options.process_parameter = 0;
  if (const auto process = request.get("process"); !process.empty()) {
    FATHOM_TRY(options.process_parameter, number_of(process, e.parameters(), [](const auto& p) { return p; }));
  }
  if (const auto metric = request.get("metric"); !metric.empty()) {
    FATHOM_TRY(options.metric, number_of(metric, e.metrics(), [](const auto& m) { return m.name; }));
  }
  FATHOM_TRY(const Fitted* made, fitted({}));
  FATHOM_TRY(const Advice advice, advise(e, made->set, options, work_));
  Output out;
  JsonWriter json(out);
  json.begin_object().member("mode", to_string(advice.mode)).member("current_cost", advice.current_cost);
  json.member("noise", advice.noise).key("suggested").begin_array();
  for (const Suggestion& s : advice.suggestions) {
    json.begin_object().key("point").begin_array();
    for (const double coordinate : s.point) json.value(coordinate);
    json.end_array().member("cost", s.cost).member("repetition", s.repetition).end_object();
  }
  json.end_array().end_object();
  return Answer::json(out.text());
}

Result<std::vector<std::size_t>> ModelAnswers::series_of(const Request& request) {
  std::vector<std::size_t> out;
  if (request.get("part").empty()) {
    for (const std::string_view wanted : split(request.get("series"), ',')) {
      const auto number = parse_integer<std::size_t>(wanted);
      if (!number || *number >= experiment_->series().size()) {
        return Error::usage("there is no such series of measurements");
      }
      out.push_back(*number);
    }
    return out;
  }
  FATHOM_TRY(const std::int64_t part, request.integer("part", 0));
  FATHOM_TRY(const Fitted* made, fitted({}));
  FATHOM_TRY(const Ranking ranking, rank_models(*experiment_, made->set, {}));
  const std::size_t count = std::min(ranking.models.size(), kMostModels);
  if (part < 0 || static_cast<std::size_t>(part) >= (count + kModelsOfAPart - 1) / kModelsOfAPart) {
    return Error::usage("there is no such part of the models");
  }
  const std::size_t first = static_cast<std::size_t>(part) * kModelsOfAPart;
  for (std::size_t i = first; i < std::min(first + kModelsOfAPart, count); ++i) {
    out.push_back(ranking.models[i].model->series);
  }
  return out;
}

Result<Answer> ModelAnswers::repetitions(const Request& request) {
  const Experiment& e = *experiment_;
  FATHOM_TRY(const std::vector<std::size_t> wanted, series_of(request));
  Output out;
  JsonWriter json(out);
  json.begin_object().key("values").begin_array();
  for (const std::size_t number : wanted) {
    const Series& series = e.series()[number];
    json.begin_array();
    for (std::size_t i = 0; i < e.points_of(series).size(); ++i) {
      const std::span<const double> all = e.values(series.first + i);
      json.begin_array();
      for (const double value : all.first(std::min(all.size(), kMostRepetitions))) json.value(value);
      json.end_array();
    }
    json.end_array();
  }
  json.end_array().end_object();
  return Answer::json(out.text());
}

Result<Answer> ModelAnswers::models(const Request& request) {
  FATHOM_TRY(const Fitted* made, fitted(request));
  const Experiment& e = *experiment_;
  RankingOptions ranking_options;
  if (const std::string_view at = request.get("at"); !at.empty()) {
    FATHOM_TRY(ranking_options.at, parse_point(at, e.parameters(), largest_point(e)));
  }
  std::vector<Growth> expected;
  if (const std::string_view expect = request.get("expect"); !expect.empty()) {
    ranking_options.expect = std::string(expect);
    FATHOM_TRY(expected, parse_expectation(expect, e.parameters()));
  }
  FATHOM_TRY(const Ranking ranking, rank_models(e, made->set, ranking_options));
  const std::size_t count = std::min(ranking.models.size(), kMostModels);
  std::vector<const Model*> shown;
  for (std::size_t i = 0; i < count; ++i) shown.push_back(ranking.models[i].model);
  const Predictor predictor(e, made->options, shown);
  std::vector<Forecast> forecasts(count);
  FATHOM_CHECK(parallel_for(count, [&](std::size_t i) -> Result<void> {
    forecasts[i] = predictor(*shown[i], ranking.target);
    return {};
  }));

  Output out;
  JsonWriter json(out);
  const auto numbers = [&](std::string_view key, std::span<const double> values) {
    json.key(key).begin_array();
    for (const double v : values) json.value(v);
    json.end_array();
  };
  json.begin_object().key("parameters").begin_array();
  for (const std::string& p : e.parameters()) json.value(std::string_view(p));
  json.end_array();
  numbers("largest", ranking.largest);
  numbers("target", ranking.target);
  json.member("all", ranking.models.size());
  // What was said to be acceptable: powers of every parameter and of its logarithm.
  json.key("expected").begin_array();
  for (const Growth& growth : expected)
    json.begin_array().value(growth.power.value).value(growth.log.value).end_array();
  json.end_array();
  json.key("models").begin_array();
  for (std::size_t i = 0; i < count; ++i) {
    const RankedModel& r = ranking.models[i];
    const Series& s = e.series()[r.model->series];
    json.begin_object().member("series", r.model->series);
    json.member("callpath", std::string_view(e.callpaths()[s.callpath].name));
    json.member("metric", std::string_view(e.metrics()[s.metric].name));
    json.member("unit", std::string_view(unit_of(e.metrics()[s.metric])));
    json.member("function", std::string_view(text(r.model->function, e.parameters())));
    if (r.model->function.segments.empty()) {
      json.key("terms").raw(terms_json(r.model->function, e.parameters()));
    } else {
      json.key("segments").raw(segments_json(r.model->function.segments, e.parameters()));
    }
    std::string growth;
    for (std::size_t p = 0; p < r.growth.size(); ++p) {
      if (!r.growth[p].constant()) growth += (growth.empty() ? "" : ", ") + r.growth[p].text(e.parameters()[p]);
    }
    json.member("growth", std::string_view(growth.empty() ? "constant" : growth));
    json.member("SMAPE", r.model->quality.smape).member("AR2", r.model->quality.ar2);
    json.member("now", r.now).member("then", r.then);
    json.member("share_now", r.share_now).member("share_then", r.share_then);
    json.member("low", forecasts[i].prediction.low).member("high", forecasts[i].prediction.high);
    json.member("mark", r.bug ? "bug" : r.unsure ? "unsure" : "");
    json.member("explanation", std::string_view(r.explanation));
    json.key("points").begin_array();
    for (const std::uint32_t point : e.points_of(s)) {
      json.begin_array();
      for (const double c : e.point(point)) json.value(c);
      json.end_array();
    }
    json.end_array();
    const auto measured = [&](std::string_view key, std::span<const double> all) {
      numbers(key, all.subspan(s.first, e.points_of(s).size()));
    };
    measured("mean", e.means());
    measured("median", e.medians());
    measured("minimum", e.minima());
    measured("maximum", e.maxima());
    json.end_object();
  }
  json.end_array().end_object();
  return Answer::json(out.text());
}

}  // namespace fathom::serve
