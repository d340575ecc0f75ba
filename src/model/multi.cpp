#include "model/multi.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "model/least_squares.hpp"

namespace fathom {

namespace {

constexpr double kContribution = 0.0005;
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

struct MultiModeler::Scratch {
  LeastSquares solver;
  std::vector<std::vector<double>> terms;    // value of each active term at all points
  std::vector<std::vector<double>> columns;  // of the design matrix, the first all ones
  std::vector<const double*> matrix;
  std::vector<double> predicted, at_distinct;
};

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
  Scratch scratch;
  std::vector<Model> own(parameters_);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t p = 0; p < parameters_; ++p) own[p] = std::move(lines[p][i]);
    combine({rows[i], points_}, own, scratch, models[i]);
  }
}

void MultiModeler::combine(std::span<const double> y, std::span<const Model> lines, Scratch& scratch,
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
  scratch.terms.resize(factors.size());
  for (std::size_t a = 0; a < factors.size(); ++a) {
    const Axis& axis = axes_[factors[a].parameter];
    scratch.at_distinct.resize(axis.distinct.size());
    for (std::size_t i = 0; i < axis.distinct.size(); ++i) {
      scratch.at_distinct[i] = factor_value(factors[a], axis.distinct[i]);
    }
    auto& column = scratch.terms[a];
    column.resize(points_);
    for (std::size_t k = 0; k < points_; ++k) column[k] = scratch.at_distinct[axis.position[k]];
  }
  scratch.predicted.resize(points_);

  struct Candidate {
    std::vector<double> coefficients;  // constant first
    Quality quality;
  };
  // Least squares for a list of summands (bits: factors).
  const auto evaluate = [&](std::span<const std::uint32_t> summands, const double* fixed) {
    scratch.columns.resize(summands.size() + 1);
    scratch.matrix.clear();
    scratch.columns[0].assign(points_, 1.0);
    scratch.matrix.push_back(scratch.columns[0].data());
    int factor_count = 0;
    for (std::size_t s = 0; s < summands.size(); ++s) {
      auto& column = scratch.columns[s + 1];
      column.assign(points_, 1.0);
      for (std::size_t a = 0; a < factors.size(); ++a) {
        if ((summands[s] >> a & 1) == 0) continue;
        for (std::size_t k = 0; k < points_; ++k) column[k] *= scratch.terms[a][k];
      }
      factor_count += std::popcount(summands[s]);
      scratch.matrix.push_back(column.data());
    }
    Candidate candidate;
    if (fixed != nullptr) {
      candidate.coefficients.assign(fixed, fixed + summands.size() + 1);
    } else {
      const auto solution = scratch.solver.solve(scratch.matrix, y);
      candidate.coefficients.assign(solution.begin(), solution.end());
    }
    std::fill(scratch.predicted.begin(), scratch.predicted.end(), candidate.coefficients[0]);
    for (std::size_t s = 0; s < summands.size(); ++s) {
      const double c = candidate.coefficients[s + 1];
      for (std::size_t k = 0; k < points_; ++k) scratch.predicted[k] += c * scratch.columns[s + 1][k];
    }
    candidate.quality = quality_of(scratch.predicted, y, total, factor_count);
    return candidate;
  };
  const auto store = [&](std::span<const std::uint32_t> summands, const Candidate& candidate) {
    model.function.constant = candidate.coefficients[0];
    for (std::size_t s = 0; s < summands.size(); ++s) {
      Term term;
      term.coefficient = candidate.coefficients[s + 1];
      for (std::size_t a = 0; a < factors.size(); ++a) {
        if ((summands[s] >> a & 1) != 0) term.factors.push_back(factors[a]);
      }
      model.function.terms.push_back(std::move(term));
    }
    model.quality = candidate.quality;
  };

  if (factors.size() == 1) {
    const std::uint32_t only[] = {1};
    const Function& line = lines[factors[0].parameter].function;
    // A piecewise function keeps its own coefficients inside.
    const double as_is[] = {line.segments.empty() ? line.constant : 0,
                            line.segments.empty() ? line.terms.front().coefficient : 1};
    const Candidate kept = evaluate(only, as_is);
    const Candidate refit = evaluate(only, nullptr);
    const bool better = refit.quality.smape < kept.quality.smape ||
                        (options_.multi.compare_with_rss && refit.quality.rss < kept.quality.rss);
    store(only, better ? refit : kept);
    return;
  }

  const auto list = combinations(factors.size(), options_.multi.allow_combinations);
  std::size_t winner = 0;
  Candidate best;
  for (std::size_t c = 0; c < list.size(); ++c) {
    Candidate candidate = evaluate(list[c], nullptr);
    if (c == 0) {
      best = candidate;
      continue;
    }
    bool negligible = false;
    for (std::size_t s = 0; s < list[c].size() && !negligible; ++s) {
      const double coefficient = candidate.coefficients[s + 1];
      double largest = 0;
      for (std::size_t k = 0; k < points_; ++k) {
        const double share = std::fabs(coefficient * scratch.columns[s + 1][k] / y[k]);
        if (!(share <= largest)) largest = share;
        if (std::isnan(share)) break;
      }
      negligible = coefficient == 0 || largest < kContribution;
    }
    if (negligible) continue;
    const bool better = options_.multi.compare_with_rss ? candidate.quality.rss < best.quality.rss
                                                        : candidate.quality.smape < best.quality.smape;
    if (!better) continue;
    winner = c;
    best = std::move(candidate);
  }
  store(list[winner], best);
}

}  // namespace fathom
