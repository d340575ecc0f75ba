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
  bool inclusive = false;  // inclusive instead of exclusive values
  // Only these; empty = all metrics that are no part of another, hidden ones only where nothing else can be had.
  std::vector<std::string> metrics;
  // Series that do not occur at every point (that their own values of parameters_from give): left out, as the reference
  // does; or kept; or added to the nearest call path above that does, so that totals stay what they are.
  enum class Missing : std::uint8_t { leave_out, keep, merge } missing = Missing::leave_out;
  std::optional<SmallKernels> small;  // call paths that are too small to matter are left out
  // Loops and lines as call paths of their own; otherwise they count as part of their function.
  bool lines = false;
  // Call nodes with one path, all of them calls with one stored flavour, are repetitions of each other; otherwise one,
  // with the values of all.
  bool equal_paths_repeat = false;
  // Parameters of contexts that are parameters of the experiment instead of part of the call path's name. What lies
  // below a context has its value; call paths without one are left out.
  std::vector<std::string> parameters_from;
};

// What one run says about one call path and metric.
struct RunValues {
  std::string metric;
  std::string callpath;              // names from the root down; an arrow inside a name is not one between names
  std::vector<double> values;        // one per location
  std::vector<double> parameters{};  // of CollectOptions::parameters_from
  // How values of several locations become one: a minimum of minima stays one.
  enum class Combine : std::uint8_t { sum, minimum, maximum } combine = Combine::sum;
};

// Tag of metrics that are minima or maxima: no amount that could have a share of anything.
inline constexpr const char* kExtremeTag = "fathom__extreme";

// What of a run did not become values.
struct LeftOut {
  std::vector<std::string> metrics;           // that hold nothing
  std::map<std::string, std::string> others;  // metrics that may well hold something, and why they are not taken
  std::vector<std::string> hidden;            // metrics with values that the file hides; they can be asked for
  std::uint64_t without_parameters = 0;       // contexts that lack one of CollectOptions::parameters_from
  std::uint64_t wrapped = 0;                  // values of unsigned counters that went below zero, taken as 0
};

// The values of one run, metric by metric, contexts in file order: own and exclusive as the level defines them,
// whatever the format stores, so that they add up to the profile's total. MT: safe.
Result<std::vector<RunValues>> values_of_run(const Profile& profile, const CollectOptions& options, LeftOut& left_out);

struct RunAtPoint {
  std::vector<double> point;
  std::vector<RunValues> values;
  std::string name;                               // for messages
  std::map<std::string, std::string> units = {};  // of its metrics, where they are known
  std::map<std::string, std::string> descriptions = {};
};

// Runs at the same point are repetitions of it. Under weak scaling they must have the same number of locations. What is
// left out is counted in a warning.
Result<ExperimentPtr> collect(std::string name, const std::vector<std::string>& parameters,
                              std::vector<RunAtPoint> runs, const CollectOptions& options, const Work& work);

// A trace that was reduced in parts (ReduceOptions::parts) as an experiment over time: the parameter `part` counts them
// from 1.
Result<ExperimentPtr> collect_parts(const Profile& profile, std::size_t parts, const CollectOptions& options,
                                    const Work& work);

}  // namespace fathom
