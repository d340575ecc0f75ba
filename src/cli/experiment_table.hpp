// fathom table of an experiment: one row per call path, metric and point.
#pragma once

#include <string>
#include <vector>

#include "cli/session.hpp"
#include "experiment/experiment.hpp"

namespace fathom::cli {

// The same columns as for profiles: the location is the point ("p=8;n=100"), the value the mean of the repetitions.
Result<int> write_experiment_table(Session& session, const Experiment& experiment,
                                   const std::vector<std::string>& metrics);

}  // namespace fathom::cli
