// From profiles of several runs to an experiment: the step that makes level 3 from level 2. It opens no files.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "experiment/experiment.hpp"
#include "profile/profile.hpp"

namespace fathom {

struct CollectOptions {
  Scaling scaling = Scaling::weak;
  bool inclusive = false;            // inclusive instead of exclusive values
  std::vector<std::string> metrics;  // only these; empty = all metrics that are no part of another
};

// What one run says about one call path and metric.
struct RunValues {
  std::string metric;
  std::string callpath;
  std::vector<double> values;  // one per location
};

// The values of one run, metric by metric, contexts in file order. Metrics that cannot be had are named in `skipped`.
// MT: safe.
Result<std::vector<RunValues>> values_of_run(const Profile& profile, const CollectOptions& options,
                                             std::vector<std::string>& skipped);

struct RunAtPoint {
  std::vector<double> point;
  std::vector<RunValues> values;
  std::string name;  // for messages
};

// Runs at the same point are repetitions of it. Series that do not occur at every point are removed, as the reference
// does, and counted in a warning.
Result<ExperimentPtr> collect(std::string name, const std::vector<std::string>& parameters,
                              std::vector<RunAtPoint> runs, const CollectOptions& options, const Work& work);

}  // namespace fathom
