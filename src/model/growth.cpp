#include "model/growth.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "base/special.hpp"
#include "model/relative_noise.hpp"
#include "model/robust.hpp"

namespace fathom {

namespace {

constexpr double kConfidence = 0.99;
constexpr int kRounds = 2;  // of reweighting

std::string exponent_text(const Exponent& e) {
  const std::string text = e.text();
  return text.find_first_of("/.-") == std::string::npos ? text : "(" + text + ")";
}

Exponent plus(const Exponent& a, const Exponent& b) {
  return a.zero() ? b : b.zero() ? a : Exponent::decimal(a.value + b.value);
}

// Nesting is one level deep: a factor's segments hold plain functions of that parameter.
std::optional<Growth> of_terms(const std::vector<Term>& terms, std::uint32_t parameter, Terms which) {
  std::optional<Growth> best;
  for (const Term& term : terms) {
    if (which == Terms::positive && !(term.coefficient > 0)) continue;
    std::optional<Growth> growth;
    for (const Factor& factor : term.factors) {
      if (factor.parameter != parameter) continue;
      const Growth own = factor.segments.empty()
                             ? Growth{factor.power, factor.log}
                             : of_terms(factor.segments.back().function.terms, parameter, which).value_or(Growth{});
      growth = growth ? Growth{plus(growth->power, own.power), plus(growth->log, own.log)} : own;
    }
    if (growth && (!best || grows_faster(*growth, *best))) best = growth;
  }
  return best;
}

// The function with `growth` in place of its own growth with `parameter`; terms that become equal are joined.
Function replaced(const Function& function, std::uint32_t parameter, const Growth& growth) {
  Function out;
  for (const Term& term : function.terms) {
    Term other{1, {}};
    bool done = growth.constant();
    for (const Factor& factor : term.factors) {
      if (factor.parameter != parameter) {
        other.factors.push_back(factor);
      } else if (!done) {
        other.factors.push_back({parameter, growth.power, growth.log, {}});
        done = true;
      }
    }
    const auto same = [&](const Term& existing) {
      return std::equal(existing.factors.begin(), existing.factors.end(), other.factors.begin(), other.factors.end(),
                        [](const Factor& a, const Factor& b) {
                          return a.parameter == b.parameter && a.power == b.power && a.log == b.log &&
                                 a.segments.empty() && b.segments.empty();
                        });
    };
    if (other.factors.empty() || std::any_of(out.terms.begin(), out.terms.end(), same)) continue;
    out.terms.push_back(std::move(other));
  }
  return out;
}

// Fits constant and coefficients of functions' terms anew. One is kept for many, for what it allocates.
class Refit {
 public:
  // The sum of squared relative residuals.
  std::optional<double> operator()(const RelativeNoise& data, const Function& function) {
    const std::size_t points = data.values.size();
    const std::size_t width = function.terms.size() + 1;
    if (width > RelativeSolver::kMostColumns || width > points) return std::nullopt;
    std::array<const double*, RelativeSolver::kMostColumns> columns{};
    values_.assign(width * points, 1.0);
    columns[0] = values_.data();
    for (std::size_t t = 1; t < width; ++t) {
      double* const column = values_.data() + t * points;
      columns[t] = column;
      double largest = 0;
      for (std::size_t k = 0; k < points; ++k) {
        column[k] = evaluate(function.terms[t - 1].factors, data.point(k));
        largest = std::max(largest, std::fabs(column[k]));
      }
      if (!(largest > 0) || !std::isfinite(largest)) return std::nullopt;
      for (std::size_t k = 0; k < points; ++k) column[k] /= largest;
      scale_[t] = largest;
    }
    if (!solver_.solve(std::span(columns).first(width), data.values, kRounds, fit_)) return std::nullopt;
    return fit_.squares;
  }

  // Gives the function that was fitted last what was found.
  void apply(Function& function) const {
    function.constant = fit_.coefficients[0];
    for (std::size_t t = 0; t < function.terms.size(); ++t) {
      function.terms[t].coefficient = fit_.coefficients[t + 1] / scale_[t + 1];
    }
  }

 private:
  std::vector<double> values_;  // column by column
  std::array<double, RelativeSolver::kMostColumns> scale_{};
  RelativeSolver solver_;
  Hypothesis fit_;
};

// Whether chance gives so large a t less than once in a hundred times. Mostly all series have the same degrees of
// freedom: what others showed tells without asking the distribution.
bool beyond_chance(double t, double degrees) {
  struct Known {
    double degrees = 0;
    double within = 0;
    double beyond = std::numeric_limits<double>::infinity();
  };
  static thread_local Known known;
  if (known.degrees != degrees) known = {degrees};
  if (t >= known.beyond) return true;
  if (t <= known.within) return false;
  const bool beyond = StudentDistribution(degrees).cdf(t) > (1 + kConfidence) / 2;
  (beyond ? known.beyond : known.within) = t;
  return beyond;
}

}  // namespace

std::string Growth::text(const std::string& parameter) const {
  std::string out;
  if (!power.zero()) out = parameter + (power.value == 1 ? "" : "^" + exponent_text(power));
  if (!log.zero()) {
    if (!out.empty()) out += " * ";
    out += "log2(" + parameter + ")" + (log.value == 1 ? "" : "^" + exponent_text(log));
  }
  return out.empty() ? "constant" : out;
}

bool grows_faster(const Growth& a, const Growth& b) {
  if (a.power.value != b.power.value) return a.power.value > b.power.value;
  return a.log.value > b.log.value;
}

Growth leading_growth(const Function& function, std::uint32_t parameter, Terms terms) {
  const auto& list = function.segments.empty() ? function.terms : function.segments.back().function.terms;
  return of_terms(list, parameter, terms).value_or(Growth{});
}

std::optional<Function> within(const Growth& allowed, const Experiment& experiment, std::uint32_t series,
                               const Function& function, Measure measure, std::uint32_t parameter) {
  const Segment* segment = function.segments.empty() ? nullptr : &function.segments.back();
  const Function& own = segment == nullptr ? function : segment->function;
  static thread_local RelativeNoise data;
  static thread_local Refit refit;
  if (!relative_noise(experiment, series, own, measure, segment, data) || data.degrees <= 0) return std::nullopt;
  Function other = replaced(own, parameter, allowed);
  const auto without = refit(data, other);
  if (!without) return std::nullopt;
  const auto clearly_worse = [&](double with) {
    const double worse = *without - with;
    const double t = std::sqrt(worse / data.variance);  // infinite where there is no noise
    return worse > 0 && beyond_chance(t, data.degrees);
  };
  if (clearly_worse(data.squares)) return std::nullopt;
  refit.apply(other);
  // Not by much: then the function's own terms are tried at their best as well.
  const auto with = refit(data, own);
  if (!with || clearly_worse(*with)) return std::nullopt;
  return other;
}

}  // namespace fathom
