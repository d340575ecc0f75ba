// Tables of experiments and models.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/table.hpp"
#include "experiment/experiment.hpp"
#include "model/model.hpp"

namespace fathom {

std::unique_ptr<TableSource> experiment_metric_table(const Experiment& experiment);
// Call paths as contexts: id, parent (the nearest call path above), depth, path, name.
std::unique_ptr<TableSource> experiment_context_table(const Experiment& experiment);
std::unique_ptr<TableSource> parameter_table(const Experiment& experiment);
// One row per point, a column per parameter.
std::unique_ptr<TableSource> point_table(const Experiment& experiment);

// Which series: metrics by name or pattern, contexts by the number of the call path; empty = all.
struct SeriesBounds {
  std::vector<std::string> metrics;
  std::vector<std::string> contexts;
};
Result<std::unique_ptr<TableSource>> measurement_table(ExperimentPtr experiment, const SeriesBounds& bounds);
// Means as rows of (metric, context, location, value), as `fathom table` has them: the point stands for the location.
Result<std::unique_ptr<TableSource>> experiment_value_table(ExperimentPtr experiment, const SeriesBounds& bounds,
                                                            const std::vector<std::string>& locations);
// Models are made when the table is first read: fitting takes its time.
using ModelMaker = std::function<Result<std::shared_ptr<const std::vector<ModelSet>>>()>;
Result<std::unique_ptr<TableSource>> model_table(ExperimentPtr experiment, ModelMaker make, const SeriesBounds& bounds);

}  // namespace fathom
