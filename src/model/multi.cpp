#include "model/multi.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "model/lapack_solver.hpp"
#include "model/least_squares.hpp"

namespace fathom {

namespace {

constexpr double kContribution = 0.0005;
// Candidates whose criteria are this close are a tie; the reference's rounding decided it.
constexpr double kTie = 1e-8;
// Singular values this far apart cost the reference digits; candidates within kClose may then change places.
constexpr double kIllConditioned = 1e10;
constexpr double kClose = 0.01;
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

// Candidate functions of one series: sums of products of its factors.
struct MultiModeler::Scratch {
  // How a candidate's coefficients are found: quickly, or with every rounding as the reference.
  enum class Solve : std::uint8_t { quick, faithful };

  struct Candidate {
    std::vector<double> coefficients;  // constant first
    double condition = 1;
    double criterion = 0;
    bool negligible = false;  // some summand is
  };

  void prepare(std::span<const double> values, std::span<const std::vector<std::uint32_t>> list, bool by_rss) {
    y = values;
    rss = by_rss;
    masks.assign(1, 0);
    for (const auto& summands : list) {
      for (const auto mask : summands) {
        if (std::find(masks.begin(), masks.end(), mask) == masks.end()) masks.push_back(mask);
      }
    }
    columns.resize(masks.size());
    share.resize(masks.size());
    matrix.clear();
    finite = true;
    for (std::size_t m = 0; m < masks.size(); ++m) {
      auto& column = columns[m];
      column.assign(y.size(), 1.0);
      for (std::size_t a = 0; a < terms.size(); ++a) {
        if ((masks[m] >> a & 1) == 0) continue;
        for (std::size_t k = 0; k < y.size(); ++k) column[k] *= terms[a][k];
      }
      share[m] = 0;
      for (std::size_t k = 0; k < y.size() && !std::isnan(share[m]); ++k) {
        finite = finite && std::isfinite(column[k]);
        const double part = std::fabs(column[k] / y[k]);
        if (!(part <= share[m])) share[m] = part;
      }
      matrix.push_back(column.data());
    }
    reduced_ready = finite && list.size() > 1;
    if (reduced_ready) solver.reduce(matrix, y, reduced);
  }

  [[nodiscard]] std::size_t column_of(std::uint32_t mask) const {
    return static_cast<std::size_t>(std::find(masks.begin(), masks.end(), mask) - masks.begin());
  }

  void predict(std::span<const std::uint32_t> summands, std::span<const double> coefficients, Solve how) {
    predicted.assign(y.size(), coefficients[0]);
    for (std::size_t s = 0; s < summands.size(); ++s) {
      const double c = coefficients[s + 1];
      const auto& column = columns[column_of(summands[s])];
      for (std::size_t k = 0; k < y.size(); ++k) {
        double value = c * column[k];
        if (how == Solve::faithful) {
          value = c;
          for (std::size_t a = 0; a < terms.size(); ++a) {
            if ((summands[s] >> a & 1) != 0) value *= terms[a][k];
          }
        }
        predicted[k] += value;
      }
    }
  }

  // `predicted` holds its values afterwards.
  Candidate evaluate(std::span<const std::uint32_t> summands, Solve how) {
    const bool small = how == Solve::quick && reduced_ready;
    chosen.clear();
    chosen.push_back(small ? reduced.columns[0].data() : columns[0].data());
    for (const auto mask : summands) {
      const std::size_t column = column_of(mask);
      chosen.push_back(small ? reduced.columns[column].data() : columns[column].data());
    }
    Candidate candidate;
    const auto solution = how == Solve::faithful ? lapack.solve(chosen, y, true)
                                                 : solver.solve(chosen, small ? std::span<const double>(reduced.y) : y);
    candidate.coefficients.assign(solution.begin(), solution.end());
    if (how == Solve::quick) candidate.condition = solver.condition();
    for (std::size_t s = 0; s < summands.size(); ++s) {
      const double c = candidate.coefficients[s + 1];
      candidate.negligible |= c == 0 || std::fabs(c) * share[column_of(summands[s])] < kContribution;
    }
    predict(summands, candidate.coefficients, how);
    candidate.criterion = criterion();
    return candidate;
  }

  [[nodiscard]] double criterion() const {
    double sum = 0;
    for (std::size_t k = 0; k < y.size(); ++k) {
      const double difference = predicted[k] - y[k];
      if (rss) {
        sum += difference * difference;
        continue;
      }
      const double size = std::fabs(y[k]) + std::fabs(predicted[k]);
      if (size != 0) sum += 2 * std::fabs(difference) / size;
    }
    return rss ? sum : sum * (100 / static_cast<double>(y.size()));
  }

  // The first candidate stands unless a later one without negligible summands is better.
  [[nodiscard]] std::size_t winner() const {
    std::size_t best = 0;
    for (std::size_t c = 1; c < candidates.size(); ++c) {
      if (!candidates[c].negligible && candidates[c].criterion < candidates[best].criterion) best = c;
    }
    return best;
  }

  // Whether rounding may have decided.
  [[nodiscard]] bool doubtful(std::size_t winner) const {
    const double best = candidates[winner].criterion;
    for (std::size_t c = 0; c < candidates.size(); ++c) {
      const double above = candidates[c].criterion - best;
      if (c != winner && std::fabs(above) <= kTie * best) return true;
      if (candidates[c].condition > kIllConditioned && above <= kClose * best) return true;
    }
    return false;
  }

  std::size_t select(std::span<const std::vector<std::uint32_t>> list) {
    candidates.clear();
    for (const auto& summands : list) candidates.push_back(evaluate(summands, Solve::quick));
    return winner();
  }

  // Among those that are close to the best.
  std::size_t select_faithfully(std::span<const std::vector<std::uint32_t>> list, double best) {
    for (std::size_t c = 0; c < list.size(); ++c) {
      if (!(candidates[c].criterion > best * (1 + kClose))) candidates[c] = evaluate(list[c], Solve::faithful);
    }
    return winner();
  }

  std::span<const double> y;
  bool rss = false;
  std::vector<std::vector<double>> terms;  // value of each active term at all points
  std::vector<std::uint32_t> masks;        // which factors each column is the product of; the first is the constant
  std::vector<std::vector<double>> columns;
  std::vector<double> share;  // max |column/y|
  bool finite = true;
  bool reduced_ready = false;
  LeastSquares solver;
  LapackSolver lapack;
  LeastSquares::Reduced reduced;
  std::vector<const double*> matrix, chosen;
  std::vector<Candidate> candidates;
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

  const auto store = [&](std::span<const std::uint32_t> summands, std::span<const double> coefficients,
                         Scratch::Solve how) {
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
    scratch.predict(summands, coefficients, how);
    model.quality = quality_of(scratch.predicted, y, total, factor_count);
  };

  if (factors.size() == 1) {
    static const std::vector<std::vector<std::uint32_t>> only{{1}};
    scratch.prepare(y, only, false);
    const Function& line = lines[factors[0].parameter].function;
    // A piecewise function keeps its own coefficients inside.
    const double kept[] = {line.segments.empty() ? line.constant : 0,
                           line.segments.empty() ? line.terms.front().coefficient : 1};
    const auto refit = scratch.evaluate(only.front(), Scratch::Solve::quick);
    const auto residuals = [&](std::span<const double> coefficients) {
      scratch.predict(only.front(), coefficients, Scratch::Solve::quick);
      return quality_of(scratch.predicted, y, total, 1);
    };
    const Quality as_is = residuals(kept);
    const Quality again = residuals(refit.coefficients);
    const bool better = again.smape < as_is.smape || (options_.multi.compare_with_rss && again.rss < as_is.rss);
    store(only.front(), better ? std::span<const double>(refit.coefficients) : kept, Scratch::Solve::quick);
    return;
  }

  const auto list = combinations(factors.size(), options_.multi.allow_combinations);
  scratch.prepare(y, list, options_.multi.compare_with_rss);
  auto how = Scratch::Solve::quick;
  std::size_t winner = scratch.select(list);
  if (scratch.doubtful(winner)) {
    how = Scratch::Solve::faithful;
    winner = scratch.select_faithfully(list, scratch.candidates[winner].criterion);
  }
  store(list[winner], scratch.candidates[winner].coefficients, how);
}

}  // namespace fathom
