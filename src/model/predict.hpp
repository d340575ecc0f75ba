// What a model says about points that were not measured, and how sure it is.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "model/fit.hpp"

namespace fathom {

struct Interval {
  double low = std::numeric_limits<double>::quiet_NaN();
  double high = std::numeric_limits<double>::quiet_NaN();
};

struct Forecast {
  double value = 0;
  Interval confidence;                                          // of the function: where the mean of many runs lies
  Interval prediction;                                          // of one new run
  double certainty = std::numeric_limits<double>::quiet_NaN();  // robust: share of the chosen terms in the mixture
};

// Keeps what the intervals of all models of a set need. They come from the robust modeler's mixture of hypotheses,
// whichever modeler made the function: a fit that takes its chosen terms for granted is far too sure of itself. The
// experiment must outlive it.
class Predictor {
 public:
  Predictor(const Experiment& experiment, const FitOptions& options);
  // To be asked about these models only, which is much faster where they are few of many.
  Predictor(const Experiment& experiment, const FitOptions& options, std::span<const Model* const> models);
  ~Predictor();
  Predictor(Predictor&&) noexcept;

  // `level`: probability that an interval is meant to have. MT: safe (const).
  [[nodiscard]] Forecast operator()(const Model& model, std::span<const double> point, double level = 0.95) const;
  // For several points at once: what the points share is worked out once.
  [[nodiscard]] std::vector<Forecast> at(const Model& model, std::span<const std::vector<double>> points,
                                         double level = 0.95) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// How far a point lies outside the measured range: the largest factor by which a coordinate leaves it; 1 = inside.
double extrapolation(const Experiment& experiment, const Series& series, std::span<const double> point);
// Beyond this factor a forecast is a guess and deserves a warning.
inline constexpr double kFarExtrapolation = 16;
// The factor by which a new run may be above or below the middle of its interval; NaN when there is no interval.
double uncertainty(const Forecast& forecast);
// Beyond this factor a forecast says little and deserves a warning.
inline constexpr double kWideInterval = 2;

}  // namespace fathom
