// What is said about models beside the table: what is a guess, what is not shown, what to try.
#pragma once

#include <span>
#include <vector>

#include "cli/session.hpp"
#include "model/predict.hpp"
#include "model/ranking.hpp"

namespace fathom::cli {

// What of the forecasts at a point, the one numbered `at`, is no more than a guess. `forecasts`: per model and point.
void warn_of_guesses(Session& session, const Experiment& e, std::span<const Model* const> models,
                     std::span<const double> point, const std::vector<std::vector<Forecast>>& forecasts,
                     std::size_t at);

// Leaves the metric that people ask for first and names the others. Minima and maxima, which are no part of anything,
// are shown only to those who choose them.
void keep_usual_metric(Session& session, const Experiment& e, Ranking& ranking);

// Minima and maxima that nobody named are no bugs; where there is nothing else they are what is meant.
void spare_extremes(const Experiment& e, Ranking& ranking);

// Values that shrink with a parameter are better modelled as the cost of all processes together.
void note_strong_scaling(Session& session, const Experiment& e);

}  // namespace fathom::cli
