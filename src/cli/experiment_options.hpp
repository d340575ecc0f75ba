// Options of commands that read experiments.
#pragma once

#include <string>
#include <vector>

#include "base/work.hpp"
#include "cli/options.hpp"
#include "formats/dataset.hpp"

namespace fathom::cli {

class Session;

struct ExperimentOptions {
  std::string scaling;
  bool inclusive = false;
  bool keep_values = false;
  bool allow_incomplete = false;
};

void declare_experiment_options(Options& options, ExperimentOptions& target);
// Before anything is opened: readers find them in the work.
void apply_experiment_options(const ExperimentOptions& options, WorkContext& work);
// One path: an experiment or a directory of runs. Several: the runs.
Result<DatasetPtr> open_experiment(Session& session, const std::vector<std::string>& paths);

}  // namespace fathom::cli
