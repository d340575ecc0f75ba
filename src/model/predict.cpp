#include "model/predict.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/special.hpp"
#include "model/robust_groups.hpp"

namespace fathom {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kMixture = 400;        // hypotheses in a mixture
constexpr std::size_t kLargeMixture = 2000;  // with three parameters, where many more of them fit
constexpr double kNegligible = 1e-4;         // weight below which one is left out
constexpr double kMostDegrees = 200;
constexpr double kPrecise = 1e-12;  // of a quantile, which is a logarithm

// One member of a mixture: the logarithm of the value is Student-t distributed.
struct Part {
  double weight, centre, deviation;
  StudentDistribution student;
};

// Quantile of the mixture: Newton's method, with bisection where that would leave the bracket or is slow.
double quantile(std::span<const Part> parts, double share) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const auto& part : parts) {
    low = std::min(low, part.centre - 40 * part.deviation - 1e-12);
    high = std::max(high, part.centre + 40 * part.deviation + 1e-12);
  }
  double x = (low + high) / 2;
  double step = high - low;
  for (int round = 0; round < 200; ++round) {
    double below = -share;
    double slope = 0;
    for (const auto& part : parts) {
      if (part.deviation > 0) {
        const double t = (x - part.centre) / part.deviation;
        below += part.weight * part.student.cdf(t);
        slope += part.weight * part.student.density(t) / part.deviation;
      } else if (x >= part.centre) {
        below += part.weight;
      }
    }
    (below < 0 ? low : high) = x;
    const double before = step;
    step = below / slope;
    const bool newton = x - step > low && x - step < high && std::fabs(step) < std::fabs(before) / 2;
    const double next = newton ? x - step : (low + high) / 2;
    step = x - next;
    x = next;
    if (std::fabs(step) <= kPrecise * (1 + std::fabs(x))) break;
  }
  return x;
}

// Solves a small symmetric positive definite system in place; false when it is singular.
bool solve_symmetric(std::vector<double>& a, std::vector<double>& x) {
  const std::size_t n = x.size();
  for (std::size_t j = 0; j < n; ++j) {
    const double whole = a[j * n + j];
    for (std::size_t i = 0; i < j; ++i) a[j * n + j] -= a[j * n + i] * a[j * n + i];
    if (!(a[j * n + j] > 1e-13 * whole)) return false;
    a[j * n + j] = std::sqrt(a[j * n + j]);
    for (std::size_t r = j + 1; r < n; ++r) {
      for (std::size_t i = 0; i < j; ++i) a[r * n + j] -= a[r * n + i] * a[j * n + i];
      a[r * n + j] /= a[j * n + j];
    }
  }
  // Forward only: the wanted form g'(L L')^-1 g is |L^-1 g|^2.
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < j; ++i) x[j] -= a[j * n + i] * x[i];
    x[j] /= a[j * n + j];
  }
  return true;
}

// g'(A'A)^-1 g / f(X)^2 with rows A/f: relative variance of the function at X per unit of noise variance.
double leverage(const Function& function, std::span<const double> coordinates, std::size_t parameters,
                std::span<const double> point, bool with_constant) {
  const std::size_t points = coordinates.size() / parameters;
  const std::size_t width = function.terms.size() + (with_constant ? 1 : 0);
  std::vector<double> normal(width * width, 0);
  std::vector<double> row(width);
  const auto fill = [&](std::span<const double> at) {
    const double f = function(at);
    std::size_t c = 0;
    if (with_constant) row[c++] = 1 / f;
    for (const auto& term : function.terms) row[c++] = evaluate(term.factors, at) / f;
  };
  // Columns scaled to comparable size: the form does not change.
  std::vector<double> scale(width, 0);
  for (std::size_t k = 0; k < points; ++k) {
    fill(coordinates.subspan(k * parameters, parameters));
    for (std::size_t c = 0; c < width; ++c) scale[c] = std::max(scale[c], std::fabs(row[c]));
  }
  for (auto& value : scale) value = value > 0 ? value : 1;
  for (std::size_t k = 0; k < points; ++k) {
    fill(coordinates.subspan(k * parameters, parameters));
    for (std::size_t a = 0; a < width; ++a) {
      for (std::size_t b = 0; b < width; ++b) normal[a * width + b] += row[a] / scale[a] * row[b] / scale[b];
    }
  }
  fill(point);
  for (std::size_t c = 0; c < width; ++c) row[c] /= scale[c];
  if (!solve_symmetric(normal, row)) return kNan;
  double sum = 0;
  for (const double value : row) sum += value * value;
  return sum;
}

// Noise added to a lopsided mixture can pull one end inwards; an interval for one run is never the narrower one.
Interval around(const Interval& inner, const Interval& outer) {
  return {std::min(inner.low, outer.low), std::max(inner.high, outer.high)};
}

Interval interval_of(std::vector<Part> parts, double extra_variance, double level) {
  for (auto& part : parts) part.deviation = std::sqrt(part.deviation * part.deviation + extra_variance);
  return {std::exp(quantile(parts, (1 - level) / 2)), std::exp(quantile(parts, (1 + level) / 2))};
}

// Few points of the grid that the values of the parameters span.
bool is_sparse(std::span<const double> coordinates, std::size_t parameters) {
  double grid = 1;
  for (std::size_t p = 0; p < parameters; ++p) {
    std::set<double> values;
    for (std::size_t i = p; i < coordinates.size(); i += parameters) values.insert(coordinates[i]);
    grid *= static_cast<double>(values.size());
  }
  return static_cast<double>(coordinates.size() / parameters) < grid / 2;
}

// How many parameters are larger than they were ever measured.
std::size_t beyond(std::span<const double> coordinates, std::span<const double> point) {
  std::size_t count = 0;
  for (std::size_t p = 0; p < point.size(); ++p) {
    double largest = -std::numeric_limits<double>::infinity();
    for (std::size_t i = p; i < coordinates.size(); i += point.size()) largest = std::max(largest, coordinates[i]);
    if (point[p] > largest) ++count;
  }
  return count;
}

bool same_terms(const Function& a, const Function& b) {
  if (a.terms.size() != b.terms.size()) return false;
  for (std::size_t t = 0; t < a.terms.size(); ++t) {
    if (a.terms[t].factors.size() != b.terms[t].factors.size()) return false;
    for (std::size_t f = 0; f < a.terms[t].factors.size(); ++f) {
      const auto& x = a.terms[t].factors[f];
      const auto& y = b.terms[t].factors[f];
      if (x.parameter != y.parameter || !(x.power == y.power) || !(x.log == y.log)) return false;
    }
  }
  return true;
}

}  // namespace

struct Predictor::State {
  const Experiment& experiment;
  FitOptions options;
  RobustGroups robust;
};

Predictor::Predictor(const Experiment& experiment, const FitOptions& options)
    : state_(new State{experiment, options, {}}) {
  state_->robust = make_robust_groups(experiment, options.measure);
}
Predictor::Predictor(const Experiment& experiment, const FitOptions& options, std::span<const Model* const> models)
    : state_(new State{experiment, options, {}}) {
  std::vector<std::uint32_t> wanted;
  for (const Model* model : models) wanted.push_back(model->series);
  state_->robust = make_robust_groups(experiment, options.measure, wanted);
}
Predictor::~Predictor() = default;
Predictor::Predictor(Predictor&&) noexcept = default;

namespace {

// How many parameters' exponents a hypothesis has chosen.
std::size_t exponents(const Hypothesis& hypothesis) {
  std::set<std::uint32_t> parameters;
  for (const auto& factors : hypothesis.summands) {
    for (const auto& factor : factors) parameters.insert(factor.parameter);
  }
  return parameters.size();
}

// The exponents of one shape of function are many ways to say the same thing: together they weigh what one function of
// that shape would. Otherwise forty growing terms that the noise of a constant cannot refute outweigh the constant by
// their number alone.
enum class Weights : std::uint8_t { by_shape, all_alike };

Forecast robust_forecast(const RobustGroup& group, std::size_t s, std::span<const Hypothesis> hypotheses,
                         const Model& model, std::span<const double> point, double level, Weights weights) {
  Forecast out;
  out.value = model.function(point);
  const Scoring& scoring = group.scoring(s);
  const auto shape_of = [](const Hypothesis& h) { return std::pair(h.summands.size(), exponents(h)); };
  std::map<std::pair<std::size_t, std::size_t>, double> alike;
  if (weights == Weights::by_shape) {
    for (const auto& h : hypotheses) ++alike[shape_of(h)];
  }
  std::vector<Part> parts;
  double total = 0;
  double chosen = 0;
  for (const auto& h : hypotheses) {
    double weight = std::exp(-(h.score - hypotheses.front().score) / 2);
    if (weight < kNegligible) continue;
    if (!alike.empty()) weight /= alike[shape_of(h)];
    const Function function = function_of(h, group.level(s));
    const double value = function(point);
    if (!(value > 0) || !std::isfinite(value)) continue;
    const bool with_constant =
        std::any_of(h.summands.begin(), h.summands.end(), [](const auto& factors) { return factors.empty(); });
    const double share = leverage(function, group.coordinates(), group.parameters(), point, with_constant);
    if (!std::isfinite(share)) continue;
    // Coefficients and exponents were chosen to make the squares small: none of them is left as a degree of freedom.
    const double free = std::max(scoring.nu - static_cast<double>(h.summands.size() + exponents(h)), 1.0);
    const double variance = (scoring.base + h.squares) / free * share + group.level_variance(s);
    parts.push_back({weight, std::log(value), std::sqrt(variance), StudentDistribution(std::min(free, kMostDegrees))});
    total += weight;
    if (same_terms(function, model.function)) chosen += weight;
  }
  if (parts.empty()) return out;
  for (auto& part : parts) part.weight /= total;
  out.certainty = chosen / total;
  out.confidence = interval_of(parts, 0, level);
  out.prediction = around(out.confidence, interval_of(parts, group.run_variance(s), level));
  return out;
}

}  // namespace

std::vector<Forecast> Predictor::at(const Model& model, std::span<const std::vector<double>> points,
                                    double level) const {
  std::vector<Forecast> out;
  // Where a function has no value there is nothing around it.
  const auto value_alone = [&](std::span<const double> point) {
    const double value = model.function(point);
    return Forecast{std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value, {}, {}};
  };
  // Pieces are not among the hypotheses of the mixture, and series that it cannot hold have no intervals.
  if (!state_->robust.has(model.series) || !model.function.segments.empty()) {
    for (const auto& point : points) out.push_back(value_alone(point));
    return out;
  }
  const auto member = state_->robust.member[model.series];
  const RobustGroup& group = *state_->robust.groups[member.group];
  const auto hypotheses = group.ranked(member.index, group.parameters() > 2 ? kLargeMixture : kMixture);
  const bool sparse = is_sparse(group.coordinates(), group.parameters());
  for (const auto& point : points) {
    if (Forecast alone = value_alone(point); std::isnan(alone.value)) {
      out.push_back(alone);
      continue;
    }
    const auto forecast = [&](Weights weights) {
      return robust_forecast(group, member.index, hypotheses, model, point, level, weights);
    };
    out.push_back(forecast(Weights::by_shape));
    // Few points tell shapes apart badly, and of three parameters the list of functions is cut off: the limits are
    // those of both ways to weigh.
    if (sparse || group.parameters() > 2) {
      const Forecast other = forecast(Weights::all_alike);
      out.back().confidence = around(out.back().confidence, other.confidence);
      out.back().prediction = around(out.back().prediction, other.prediction);
    }
    // Another modeler's function may lie outside of what the mixture gives: then at least it is inside.
    for (Interval* interval : {&out.back().confidence, &out.back().prediction}) {
      if (!(out.back().value > 0)) continue;
      interval->low = std::min(interval->low, out.back().value);
      interval->high = std::max(interval->high, out.back().value);
    }
    // A product of parameters that lines of points cannot show may be anything where several of them are far out. Where
    // the mixture is not sure of a factor of two, it is not sure of the product either: then there is no upper limit.
    if (sparse && beyond(group.coordinates(), point) > 1 && uncertainty(out.back()) > kWideInterval) {
      for (Interval* interval : {&out.back().confidence, &out.back().prediction}) {
        interval->high = std::numeric_limits<double>::infinity();
      }
    }
  }
  return out;
}

Forecast Predictor::operator()(const Model& model, std::span<const double> point, double level) const {
  const std::vector<double> one(point.begin(), point.end());
  return at(model, {&one, 1}, level).front();
}

double extrapolation(const Experiment& experiment, const Series& series, std::span<const double> point) {
  double worst = 1;
  for (std::size_t p = 0; p < point.size(); ++p) {
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    for (const auto index : experiment.points_of(series)) {
      low = std::min(low, experiment.point(index)[p]);
      high = std::max(high, experiment.point(index)[p]);
    }
    if (high > 0) worst = std::max(worst, point[p] / high);
    if (low > 0 && point[p] > 0) worst = std::max(worst, low / point[p]);
  }
  return worst;
}

double uncertainty(const Forecast& forecast) { return std::sqrt(forecast.prediction.high / forecast.prediction.low); }

}  // namespace fathom
