// fathom table of an experiment: one row per call path, metric and point.
#pragma once

#include <string>
#include <vector>

#include "cli/session.hpp"
#include "experiment/experiment.hpp"

namespace fathom::cli {

// Which rows are wanted; empty lists mean all.
struct ExperimentRows {
  const std::vector<std::string>& metrics;
  const std::vector<std::string>& contexts;   // numbers of call paths
  const std::vector<std::string>& regions;    // last names of call paths
  const std::vector<std::string>& locations;  // points, "p=4;n=100"
  bool zeros = false;
  bool summary = false;  // also median, minimum, maximum, deviation and number of repetitions
  bool no_path = false;
};

// Rows of (metric, context, path, location, value) in the form that was asked for.
Result<void> show_values(Session& session, const TableSource& values, bool no_path);

// Means by call path, metric and point; the point stands for the location.
Result<int> write_experiment_table(Session& session, const Experiment& experiment, const ExperimentRows& rows);

}  // namespace fathom::cli
