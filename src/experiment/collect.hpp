// From profiles of several runs to an experiment: the step that makes level 3 from level 2. It opens no files.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiment/experiment.hpp"
#include "profile/profile.hpp"

namespace fathom {

// Which call paths are too small: those whose median is below `ratio` of the median of all below `root`, at every
// point.
struct SmallKernels {
  double ratio = 0.01;
  std::string metric = "time";
  std::string root;  // empty = the first call path
};

struct CollectOptions {
  Scaling scaling = Scaling::weak;
  bool inclusive = false;            // inclusive instead of exclusive values
  std::vector<std::string> metrics;  // only these; empty = all metrics that are no part of another
  // Series that do not occur at every point: left out, as the reference does; or kept; or added to the nearest call
  // path above that does, so that totals stay what they are.
  enum class Missing : std::uint8_t { leave_out, keep, merge } missing = Missing::leave_out;
  std::optional<SmallKernels> small;  // call paths that are too small to matter are left out
};

// What one run says about one call path and metric.
struct RunValues {
  std::string metric;
  std::string callpath;
  std::vector<double> values;  // one per location
  // How values of several locations become one: a minimum of minima stays one.
  enum class Combine : std::uint8_t { sum, minimum, maximum } combine = Combine::sum;
};

// Tag of metrics that are minima or maxima: no amount that could have a share of anything.
inline constexpr const char* kExtremeTag = "fathom__extreme";

// The values of one run, metric by metric, contexts in file order. Metrics that cannot be had are named in `skipped`.
// MT: safe.
Result<std::vector<RunValues>> values_of_run(const Profile& profile, const CollectOptions& options,
                                             std::vector<std::string>& skipped);

struct RunAtPoint {
  std::vector<double> point;
  std::vector<RunValues> values;
  std::string name;                               // for messages
  std::map<std::string, std::string> units = {};  // of its metrics, where they are known
};

// Runs at the same point are repetitions of it. Under weak scaling they must have the same number of locations. What is
// left out is counted in a warning.
Result<ExperimentPtr> collect(std::string name, const std::vector<std::string>& parameters,
                              std::vector<RunAtPoint> runs, const CollectOptions& options, const Work& work);

}  // namespace fathom
