// Level 4: a performance function per (call path, metric), with its quality.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "experiment/experiment.hpp"

namespace fathom {

// An exponent as a fraction (denominator > 0) or, where the user or a file gave a decimal number, as that
// (denominator 0): the two are printed differently.
struct Exponent {
  double value = 0;
  std::int64_t numerator = 0;
  std::int64_t denominator = 1;

  static Exponent fraction(std::int64_t numerator, std::int64_t denominator = 1);  // reduced
  static Exponent decimal(double value) { return {value, 0, 0}; }
  [[nodiscard]] bool is_fraction() const { return denominator != 0; }
  [[nodiscard]] bool zero() const { return value == 0; }
  // "3/2", "2", "0.5", "2.0"
  [[nodiscard]] std::string text() const;
  friend bool operator==(const Exponent&, const Exponent&) = default;
};

struct Segment;

// x_p^power * log2(x_p)^log; an exponent of zero = that part is not there. Or, inside a multi-parameter term, a whole
// piecewise function of one parameter.
struct Factor {
  std::uint32_t parameter = 0;
  Exponent power;
  Exponent log;
  std::vector<Segment> segments;
};

struct Term {
  double coefficient = 1;
  std::vector<Factor> factors;  // empty never happens in a fitted model
};

// constant + sum of terms, or pieces of that over intervals of the one parameter.
struct Function {
  double constant = 0;
  std::vector<Term> terms;
  std::vector<Segment> segments;  // not empty: constant and terms do not count

  // At a point with one coordinate per parameter. NaN between segments.
  [[nodiscard]] double operator()(std::span<const double> point) const;
  [[nodiscard]] bool is_constant() const { return terms.empty() && segments.empty(); }
};

// Holds for from <= x <= to.
struct Segment {
  double from = -std::numeric_limits<double>::infinity();
  double to = std::numeric_limits<double>::infinity();
  Function function;
};

double evaluate(const Term& term, std::span<const double> point);
// The same with a coefficient of one.
double evaluate(std::span<const Factor> factors, std::span<const double> point);
// The piece that holds at x: the first that contains it, or none.
const Segment* segment_at(std::span<const Segment> segments, double x);

struct Quality {
  double rss = 0;
  double rrss = 0;
  double smape = 0;
  double ar2 = 0;
  double re = 0;
  double nrss = 0;
};

struct Model {
  std::uint32_t series = 0;  // position in Experiment::series()
  Function function;
  Quality quality;
  std::vector<Quality> segment_quality;  // one per segment of a segmented model
  std::string annotations;               // JSON as a file had it; "" = none
};

// How the models of a set came about.
struct ModelerInfo {
  std::string type;  // SingleParameterModeler, RefiningModeler, SegmentedModeler, MultiParameterModeler, ...
  Measure measure = Measure::mean;
  std::vector<std::pair<std::string, std::string>> options;  // name and value as JSON text
};

struct ModelSet {
  std::string name;
  ModelerInfo modeler;
  std::vector<Model> models;  // ascending by series; a series may have none
};

using ModelSets = std::vector<ModelSet>;

enum class FunctionForm : std::uint8_t { plain, python, latex };
// "1.5 + 2.0 * p^(3/2) * log2(p)^(1)"; the pieces of a segmented function on lines of their own.
std::string text(const Function& function, std::span<const std::string> parameters,
                 FunctionForm form = FunctionForm::plain);
// The same for each piece of a segmented function; one text for any other.
std::vector<std::string> texts(const Function& function, std::span<const std::string> parameters,
                               FunctionForm form = FunctionForm::plain);
// {"constant":c,"compound":[...]} of the machine interface.
std::string terms_json(const Function& function, std::span<const std::string> parameters);
// [{"from":a|null,"to":b|null,"terms":{...}}]
std::string segments_json(std::span<const Segment> segments, std::span<const std::string> parameters);

}  // namespace fathom
