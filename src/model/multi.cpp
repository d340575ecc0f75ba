#include "model/multi.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "model/candidates.hpp"

namespace fathom {

namespace {

constexpr std::string_view kTooFewForEach =
    "Number of measurements for each parameter needs to be at least 5 in order to create a performance model.";
constexpr std::string_view kNotAll =
    "Could not use all measurement points. At least 25 measurements are needed; one for each combination of "
    "parameters.";

// In-sample figures as the multi-parameter modeler defines them.
Quality quality_of(std::span<const double> predicted, std::span<const double> y, double total, double factors) {
  Quality q;
  const auto n = static_cast<double>(y.size());
  for (std::size_t k = 0; k < y.size(); ++k) {
    const double difference = predicted[k] - y[k];
    const double relative = difference / y[k];
    q.rss += difference * difference;
    q.rrss += relative * relative;
    q.re += std::fabs(difference) / y[k];
    const double size = std::fabs(y[k]) + std::fabs(predicted[k]);
    if (size != 0) q.smape += 2 * std::fabs(difference) / size;
  }
  q.re /= n;
  q.smape *= 100 / n;
  q.ar2 = 1 - (q.rss / total) * (n - 1) / (n - factors - 1);
  return q;
}

double factor_value(const Factor& factor, double x) {
  if (factor.segments.empty()) return block_value({factor.power, factor.log}, x);
  const Segment* segment = segment_at(factor.segments, x);
  if (segment == nullptr) return std::numeric_limits<double>::quiet_NaN();
  double value = segment->function.constant;
  for (const auto& term : segment->function.terms) {
    double part = term.coefficient;
    for (const auto& inner : term.factors) part *= factor_value(inner, x);
    value += part;
  }
  return value;
}

// The factor that a single-parameter function contributes to products.
Factor factor_of(const Function& function, std::uint32_t parameter) {
  if (function.segments.empty()) return function.terms.front().factors.front();
  Factor factor;
  factor.parameter = parameter;
  factor.segments = function.segments;
  return factor;
}

}  // namespace

MultiModeler::MultiModeler(const FitOptions& options, std::span<const double> coordinates, std::size_t parameters)
    : options_(options), parameters_(parameters), points_(coordinates.size() / parameters) {
  if (points_ < 5) warnings_.push_back(kTooFewForEach);
  for (std::size_t p = 0; p < parameters; ++p) {
    Axis axis;
    axis.series = select_series(coordinates, parameters, p, options.multi.selection);
    axis.modeler = make_single(options.inner, options.single, axis.series.x, static_cast<std::uint32_t>(p));
    if (options.multi.selection == PointSelection::all && axis.series.incomplete) warnings_.push_back(kNotAll);
    for (const auto warning : axis.modeler->warnings()) warnings_.push_back(warning);
    std::map<double, std::uint32_t> positions;
    for (std::size_t k = 0; k < points_; ++k) {
      const double x = coordinates[k * parameters + p];
      const auto [found, added] = positions.emplace(x, static_cast<std::uint32_t>(axis.distinct.size()));
      if (added) axis.distinct.push_back(x);
      axis.position.push_back(found->second);
    }
    axes_.push_back(std::move(axis));
  }
}

void MultiModeler::fit(std::span<const double* const> rows, std::span<Model> models) const {
  std::vector<std::vector<Model>> lines(parameters_, std::vector<Model>(rows.size()));
  std::vector<double> values;
  std::vector<const double*> pointers(rows.size());
  for (std::size_t p = 0; p < parameters_; ++p) {
    const auto& series = axes_[p].series;
    const std::size_t n = series.x.size();
    values.assign(rows.size() * n, 0);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      double* line = values.data() + i * n;
      for (std::size_t k = 0; k < n; ++k) {
        for (const auto row : series.rows[k]) line[k] += rows[i][row];
        if (series.rows[k].size() > 1) line[k] /= static_cast<double>(series.rows[k].size());
      }
      pointers[i] = line;
    }
    axes_[p].modeler->fit(pointers, lines[p]);
  }
  Candidates candidates;
  std::vector<Model> own(parameters_);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t p = 0; p < parameters_; ++p) own[p] = std::move(lines[p][i]);
    combine({rows[i], points_}, own, candidates, models[i]);
  }
}

void MultiModeler::combine(std::span<const double> y, std::span<const Model> lines, Candidates& candidates,
                           Model& model) const {
  std::vector<Factor> factors;
  for (std::size_t p = 0; p < parameters_; ++p) {
    if (!lines[p].function.is_constant()) {
      factors.push_back(factor_of(lines[p].function, static_cast<std::uint32_t>(p)));
    }
  }
  const LineFit constant = constant_fit(y);
  if (factors.empty()) {
    model.function = function_of(constant, 0);
    model.quality = constant.quality;
    return;
  }
  const double total = constant.quality.rss;
  candidates.terms().resize(factors.size());
  std::vector<double> at_distinct;
  for (std::size_t a = 0; a < factors.size(); ++a) {
    const Axis& axis = axes_[factors[a].parameter];
    at_distinct.resize(axis.distinct.size());
    for (std::size_t i = 0; i < axis.distinct.size(); ++i) at_distinct[i] = factor_value(factors[a], axis.distinct[i]);
    auto& column = candidates.terms()[a];
    column.resize(points_);
    for (std::size_t k = 0; k < points_; ++k) column[k] = at_distinct[axis.position[k]];
  }

  const auto store = [&](std::span<const std::uint32_t> summands, std::span<const double> coefficients,
                         Candidates::Solve how) {
    model.function.constant = coefficients[0];
    int factor_count = 0;
    for (std::size_t s = 0; s < summands.size(); ++s) {
      Term term;
      term.coefficient = coefficients[s + 1];
      for (std::size_t a = 0; a < factors.size(); ++a) {
        if ((summands[s] >> a & 1) != 0) term.factors.push_back(factors[a]);
      }
      model.function.terms.push_back(std::move(term));
      factor_count += std::popcount(summands[s]);
    }
    model.quality = quality_of(candidates.predict(summands, coefficients, how), y, total, factor_count);
  };

  if (factors.size() == 1) {
    static const std::vector<Summands> only{{1}};
    candidates.prepare(y, only, false);
    const Function& line = lines[factors[0].parameter].function;
    // A piecewise function keeps its own coefficients inside.
    const double kept[] = {line.segments.empty() ? line.constant : 0,
                           line.segments.empty() ? line.terms.front().coefficient : 1};
    const auto refit = candidates.evaluate(only.front(), Candidates::Solve::quick);
    const auto residuals = [&](std::span<const double> coefficients) {
      return quality_of(candidates.predict(only.front(), coefficients, Candidates::Solve::quick), y, total, 1);
    };
    const Quality as_is = residuals(kept);
    const Quality again = residuals(refit.coefficients);
    const bool better = again.smape < as_is.smape || (options_.multi.compare_with_rss && again.rss < as_is.rss);
    store(only.front(), better ? std::span<const double>(refit.coefficients) : kept, Candidates::Solve::quick);
    return;
  }

  const auto list = combinations(factors.size(), options_.multi.allow_combinations);
  candidates.prepare(y, list, options_.multi.compare_with_rss);
  auto how = Candidates::Solve::quick;
  std::size_t winner = candidates.select(list);
  if (candidates.doubtful(winner)) {
    how = Candidates::Solve::faithful;
    winner = candidates.select_faithfully(list, winner);
  }
  store(list[winner], candidates.at(winner).coefficients, how);
}

}  // namespace fathom
