// Options of commands that read experiments.
#pragma once

#include <string>
#include <vector>

#include "base/work.hpp"
#include "cli/options.hpp"
#include "formats/dataset.hpp"

namespace fathom::cli {

class Session;

// How runs and experiments are read.
struct ExperimentOptions {
  std::string scaling;
  std::vector<std::string> metrics;
  bool inclusive = false;
  bool lines = false;
  std::vector<std::string> parameters_from;
  bool allow_incomplete = false;
  bool merge_missing = false;
  std::string drop_below;
  std::string drop_metric;
  std::string drop_root;
  std::string multiply_by;
  bool sum_gpu_threads = false;
  bool concurrent_threads = false;
  bool count_gpu_calls_once = false;
  bool keep_values = false;
};

void declare_experiment_options(Options& options, ExperimentOptions& target);
// For commands that write .extra-p.
void declare_keep_values(Options& options, ExperimentOptions& target);
// Before anything is opened: readers find them in the work.
void apply_experiment_options(const ExperimentOptions& options, WorkContext& work);
// One path: an experiment or a directory of runs. Several: the runs.
Result<DatasetPtr> open_experiment(Session& session, const std::vector<std::string>& paths);

}  // namespace fathom::cli
