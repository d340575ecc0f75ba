// Models as JSON, CSV and text.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/session.hpp"
#include "model/difference.hpp"
#include "model/predict.hpp"
#include "model/ranking.hpp"

namespace fathom::cli {

struct ShownModels {
  const Experiment& experiment;
  const ModelSet& set;
  const std::vector<std::vector<double>>& points;       // of --predict
  const std::vector<std::vector<Forecast>>& forecasts;  // per model and point
};

// An array with one object per model, in the order of the set.
void write_models_json(Session& session, const ShownModels& shown, const Ranking& ranking);
// One row per model, or per model and point of --predict; without the latter its columns are empty.
void write_models_csv(Session& session, const ShownModels& shown);
std::string predictions_text(const ShownModels& shown, const Terminal& terminal);
// The first rows of a ranking as a table, and the reasons of the marks in words.
std::string ranking_text(const Experiment& experiment, const Ranking& ranking, std::size_t rows,
                         const Terminal& terminal);
// What changed, largest first, at the largest common point and at the target, in the form that was asked for.
Result<int> show_difference(Session& session, const ModelDifference& changed, const std::vector<double>& now,
                            const std::vector<double>& target, std::uint64_t number);

}  // namespace fathom::cli
