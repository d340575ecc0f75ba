// The robust modeler: relative residuals, the noise level that the repetitions show, all call paths judged together.
//
// See docs/modeling.md for the method. One group = the series of one metric that share their points.
#pragma once

#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "model/model.hpp"
#include "model/robust_noise.hpp"

namespace fathom {

// A function that was considered: constants and products of terms with their coefficients.
struct Hypothesis {
  std::vector<std::vector<Factor>> summands;  // an empty one is the constant
  std::vector<double> coefficients;
  double squares = 0;  // of the relative residuals
  double score = 0;    // smaller is better
};
Function function_of(const Hypothesis& hypothesis, double factor);

// How hypotheses of one series are scored.
struct Scoring {
  double base = 0;   // sum of squares that is known before looking at the fit
  double nu = 0;     // degrees of freedom behind it and the fit
  double log_n = 0;  // price of one coefficient
  [[nodiscard]] double operator()(double squares, double coefficients, double negative) const;
  // Without logarithms: the score is nu * ln(value), value = (base + squares) * exp(price / nu).
  [[nodiscard]] double value(double squares, double price_factor) const { return (base + squares) * price_factor; }
  [[nodiscard]] double price_factor(double coefficients, double extra) const {
    return std::exp((coefficients * log_n + extra) / nu);
  }
  [[nodiscard]] double score(double value) const { return nu * std::log(value); }
};
inline constexpr double kNegativePenalty = 4;  // added to the score for every negative coefficient

class RobustGroup {
 public:
  virtual ~RobustGroup() = default;
  [[nodiscard]] std::size_t size() const { return data_.series; }
  // MT: safe (const).
  [[nodiscard]] Hypothesis best(std::size_t s) const { return ranked(s, 1).front(); }
  // Best first; at most `count`, at least one.
  [[nodiscard]] virtual std::vector<Hypothesis> ranked(std::size_t s, std::size_t count) const = 0;
  // Brings a function of the modelled statistic to the level of the mean.
  [[nodiscard]] double level(std::size_t s) const {
    return level_.log_ratio.empty() ? 1 : std::exp(level_.log_ratio[s]);
  }
  [[nodiscard]] double level_variance(std::size_t s) const { return level_.variance.empty() ? 0 : level_.variance[s]; }
  [[nodiscard]] const Scoring& scoring(std::size_t s) const { return scoring_[s]; }
  // Relative variance of a single run around the function.
  [[nodiscard]] double run_variance(std::size_t s) const { return run_variance_[s]; }
  [[nodiscard]] std::span<const double> values(std::size_t s) const { return located_.of(s); }
  [[nodiscard]] std::span<const double> coordinates() const { return coordinates_; }
  [[nodiscard]] std::size_t parameters() const { return parameters_; }

 protected:
  RobustGroup(Repetitions data, std::span<const double> coordinates, std::size_t parameters)
      : data_(std::move(data)), coordinates_(coordinates.begin(), coordinates.end()), parameters_(parameters) {}
  void set_scoring(std::span<const double> tau2, std::span<const double> df, const Prior& prior, double n);
  // From the variances of all series: what those say that speak for all.
  [[nodiscard]] Prior prior_of(std::span<const double> variances, std::span<const double> degrees, double most) const {
    return pooled_prior(variances.first(data_.pooled), degrees.first(data_.pooled), most);
  }

  Repetitions data_;
  std::vector<double> coordinates_;
  std::size_t parameters_;
  Located located_;
  Statistic statistic_ = Statistic::safe_mean;
  MeanLevel level_;
  std::vector<Scoring> scoring_;
  std::vector<double> run_variance_;
};

// `fixed`: values to model instead of a statistic of our choice (series x points), or empty.
// All values must be positive; 1 to 3 parameters. Null when the layout does not allow it (no lines to look along).
std::unique_ptr<RobustGroup> make_robust_group(Repetitions data, std::span<const double> coordinates,
                                               std::size_t parameters, std::span<const double> fixed);
std::unique_ptr<RobustGroup> make_robust_single(Repetitions data, std::span<const double> x,
                                                std::span<const double> fixed);
std::unique_ptr<RobustGroup> make_robust_multi(Repetitions data, std::span<const double> coordinates,
                                               std::size_t parameters, std::span<const double> fixed);

// True when the values fall with x beyond doubt; both as logarithms.
bool decreasing(std::span<const double> log_x, std::span<const double> log_v);
// Logarithms of all values; empty when some value is not positive.
std::vector<double> logarithms(std::span<const double> values);

// Least squares of relative residuals for given columns, at most kMostColumns of them; false when they depend on each
// other or the function is not positive everywhere.
class RelativeSolver {
 public:
  static constexpr std::size_t kMostColumns = 4;
  bool solve(std::span<const double* const> columns, std::span<const double> v, int rounds, Hypothesis& hypothesis);

 private:
  std::vector<double> f_;
};

}  // namespace fathom
