// What can be asked of the modelers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "model/model.hpp"

namespace fathom {

enum class Modeler : std::uint8_t { basic, refining, segmented, multi_parameter, robust };
std::string_view to_string(Modeler modeler);

// Options of the single-parameter modelers. Refining has the first four.
struct SingleOptions {
  bool allow_log_terms = true;
  bool use_crossvalidation = true;
  bool compare_with_rss = false;
  double minimum_term_contribution = 0.0005;
  std::string poly_exponents;  // "0,1,2.5": comma list; a token with a point is a decimal, else an integer
  std::string log_exponents;
  bool retain_default_exponents = false;
  bool force_combination_exponents = false;
  bool allow_negative_exponents = false;
};

// Which points the single-parameter models inside a multi-parameter model are made from.
enum class PointSelection : std::uint8_t { automatic, smallest, all };

struct MultiOptions {
  PointSelection selection = PointSelection::automatic;
  bool allow_combinations = true;
  bool compare_with_rss = false;
};

struct FitOptions {
  Modeler modeler = Modeler::basic;
  Measure measure = Measure::mean;
  Modeler inner = Modeler::basic;  // of the multi-parameter modeler
  SingleOptions single;            // of the single-parameter modeler, alone or inside
  MultiOptions multi;
};

// The options for a modeler named on the command line ("default" and case do not matter) and KEY=VALUE texts:
// names of SingleOptions and MultiOptions as the reference spells them (compare_with_RSS, ...), sp.NAME for the inner
// modeler's, single_parameter_modeler=NAME to choose it. Wrong names are usage errors that say what there is.
Result<FitOptions> fit_options(std::string_view modeler, std::size_t parameters, Measure measure = Measure::mean,
                               std::span<const std::string> key_values = {});

// How a set of models made with these options is described in files.
ModelerInfo modeler_info(const FitOptions& options);

}  // namespace fathom
