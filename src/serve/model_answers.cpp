#include "serve/model_answers.hpp"

#include <algorithm>

#include "base/json.hpp"
#include "base/parallel.hpp"
#include "experiment/unit.hpp"
#include "model/fit.hpp"
#include "model/predict.hpp"
#include "model/ranking.hpp"

namespace fathom::serve {

namespace {
constexpr std::size_t kMostModels = 2000;
}

Result<void> ModelAnswers::fitted() {
  if (set_) return {};
  FATHOM_TRY(const FitOptions options, fit_options("default", experiment_->parameters().size()));
  FATHOM_TRY(set_, fit(*experiment_, options, work_));
  return {};
}

Result<Answer> ModelAnswers::models(const Request& request) {
  FATHOM_CHECK(fitted());
  const Experiment& e = *experiment_;
  RankingOptions ranking_options;
  if (const std::string_view at = request.get("at"); !at.empty()) {
    FATHOM_TRY(ranking_options.at, parse_point(at, e.parameters(), largest_point(e)));
  }
  FATHOM_TRY(const Ranking ranking, rank_models(e, *set_, ranking_options));
  const std::size_t count = std::min(ranking.models.size(), kMostModels);
  FATHOM_TRY(const FitOptions options, fit_options("default", e.parameters().size()));
  const Predictor predictor(e, options);
  std::vector<Forecast> forecasts(count);
  FATHOM_CHECK(parallel_for(count, [&](std::size_t i) -> Result<void> {
    forecasts[i] = predictor(*ranking.models[i].model, ranking.target);
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
  json.key("models").begin_array();
  for (std::size_t i = 0; i < count; ++i) {
    const RankedModel& r = ranking.models[i];
    const Series& s = e.series()[r.model->series];
    json.begin_object().member("callpath", std::string_view(e.callpaths()[s.callpath].name));
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
