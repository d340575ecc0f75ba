// Which points to measure next under a budget.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/work.hpp"
#include "model/model.hpp"

namespace fathom {

enum class AdviceMode : std::uint8_t {
  base,  // some parameter has no line of five points yet: complete one
  add,   // such lines are there: add the cheapest further points
  gpr,   // further points are there: where a Gaussian process knows least for its cost
};
std::string_view to_string(AdviceMode mode);

struct AdvisorOptions {
  double budget = 0;                               // processes times time
  std::optional<std::uint32_t> process_parameter;  // which parameter is the number of processes
  double processes = 1;                            // used when none is
  std::uint32_t metric = 0;
  std::vector<std::uint32_t> callpaths;                 // empty = all
  std::map<std::uint32_t, std::vector<double>> values;  // series of values given by hand, per parameter
};

// How a parameter's values go on.
struct Step {
  bool factor = true;
  double size = 2;
};

struct Suggestion {
  std::vector<double> point;
  double cost = 0;               // expected, one repetition
  std::uint32_t repetition = 1;  // which one this would be
};

struct Advice {
  AdviceMode mode = AdviceMode::base;
  std::vector<std::vector<double>> values;  // distinct ones per parameter
  std::vector<Step> steps;
  std::vector<std::vector<double>> extended;
  double current_cost = 0;
  double noise = 0;  // mean relative deviation of the repetitions
  std::vector<Suggestion> suggestions;
};

// `models` predicts the cost of points that were not measured; used for modes add and gpr.
Result<Advice> advise(const Experiment& experiment, const ModelSet& models, const AdvisorOptions& options,
                      const Work& work);

}  // namespace fathom
