#include "fathom/model.hpp"

#include <fmt/format.h>

#include "api/state.hpp"
#include "model/fit.hpp"
#include "model/predict.hpp"
#include "tables/experiment_tables.hpp"

namespace fathom::api {

struct Models::State {
  std::shared_ptr<Dataset::State> dataset;
  ExperimentPtr experiment;
  FitOptions options;
  ModelSet set;
  std::unique_ptr<Predictor> predictor;
};

Models::Models(std::shared_ptr<const State> state) : state_(std::move(state)) {}
Models::Models(const Models&) = default;
Models::Models(Models&&) noexcept = default;
Models& Models::operator=(const Models&) = default;
Models& Models::operator=(Models&&) noexcept = default;
Models::~Models() = default;

std::vector<std::string> Models::parameters() const { return state_->experiment->parameters(); }
std::size_t Models::size() const { return state_->set.models.size(); }

ModelInfo Models::model(std::size_t position) const {
  const Experiment& e = *state_->experiment;
  const Model& model = state_->set.models[position];
  const Series& series = e.series()[model.series];
  const Quality& q = model.quality;
  return {e.callpaths()[series.callpath].name,
          e.metrics()[series.metric].name,
          text(model.function, e.parameters()),
          q.rss,
          q.rrss,
          q.smape,
          q.ar2,
          q.re};
}

Result<Forecast> Models::predict(std::size_t position, std::span<const double> point, double level) const {
  return guarded<Forecast>(*state_->dataset, [&]() -> fathom::Result<Forecast> {
    if (position >= size()) return fathom::Error::usage("there is no such model");
    if (point.size() != state_->experiment->parameters().size()) {
      return fathom::Error::usage(fmt::format("a point has {} coordinates, {} were given",
                                              state_->experiment->parameters().size(), point.size()));
    }
    const fathom::Forecast forecast = (*state_->predictor)(state_->set.models[position], point, level);
    return Forecast{forecast.value, forecast.prediction.low, forecast.prediction.high};
  });
}

Table Models::table() const {
  using Sets = std::shared_ptr<const std::vector<ModelSet>>;
  const auto make = [state = state_]() -> fathom::Result<Sets> {
    return std::make_shared<const std::vector<ModelSet>>(1, state->set);
  };
  auto source = model_table(state_->experiment, make, {});
  return Table(make_table_state(state_->dataset, std::move(source).value()));
}

Result<Models> fit(const Dataset& dataset, const ModelOptions& options) {
  const auto& opened = dataset.state();
  return guarded<Models>(*opened, [&]() -> fathom::Result<Models> {
    auto state = std::make_shared<Models::State>();
    state->dataset = opened;
    const std::scoped_lock lock(opened->mutex);
    FATHOM_TRY(state->experiment, opened->dataset->experiment());
    Measure measure = Measure::mean;
    bool known = false;
    for (const Measure one : {Measure::mean, Measure::median, Measure::minimum, Measure::maximum}) {
      if (to_string(one) != options.measure) continue;
      measure = one;
      known = true;
    }
    if (!known) {
      return fathom::Error::usage(fmt::format("unknown measure '{}'", options.measure))
          .hint("measures: mean, median, minimum, maximum");
    }
    std::vector<std::string> texts;
    for (const auto& [name, value] : options.options) texts.push_back(name + "=" + value);
    FATHOM_TRY(state->options, fit_options(options.modeler, state->experiment->parameters().size(), measure, texts));
    FATHOM_TRY(state->set, fathom::fit(*state->experiment, state->options, opened->dataset->work()));
    state->set.name = options.modeler;
    state->predictor = std::make_unique<Predictor>(*state->experiment, state->options);
    return Models(std::move(state));
  });
}

}  // namespace fathom::api
