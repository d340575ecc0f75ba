// How often the reference's modeler and the robust one find the true leading terms, and how well they predict, on
// freshly drawn functions under several shapes of noise.
//   robust_study [functions per cell = 200] [seed = 1] [1p | 2p-full | 2p-sparse | 3p-full | 3p-sparse | all]
//   [balanced]
// balanced: the constant is as large as all that grows, at the largest point, to within a factor of three.
// Exact: the leading power and logarithm of every parameter are right. e16: median error at 16 times the largest value
// of every parameter. p90: 90th percentile of that. Covered: the truth lies inside the robust 95 % interval there.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>

#include "experiment/builder.hpp"
#include "model/growth.hpp"
#include "model/predict.hpp"
#include "model/search_space.hpp"

namespace {

using namespace fathom;
using Random = std::mt19937_64;

enum class Noise { none, uniform, gauss, log_normal, gamma, pareto, outliers, uneven, common };
const char* name_of(Noise noise) {
  constexpr const char* kNames[] = {"none",
                                    "uniform",
                                    "Gauss",
                                    "log-normal",
                                    "gamma, one-sided",
                                    "Pareto, one-sided",
                                    "Gauss + 5 % outliers x3",
                                    "differs by path, grows with x",
                                    "half common to a point"};
  return kNames[static_cast<std::size_t>(noise)];
}

// Factors with mean one (outliers apart) for the repetitions of one point. `level` = sqrt(12) standard deviations.
void draw(Noise noise, double level, double path_level, double position, Random& random, std::span<double> out) {
  const double sigma = level / std::sqrt(12.0);
  std::normal_distribution<double> normal(0, 1);
  std::uniform_real_distribution<double> unit(0, 1);
  const double shared = normal(random);
  for (auto& value : out) {
    switch (noise) {
      case Noise::none:
        value = 1;
        break;
      case Noise::uniform:
        value = 1 + level * (unit(random) - 0.5);
        break;
      case Noise::gauss:
        value = 1 + sigma * normal(random);
        break;
      case Noise::log_normal:
        value = std::exp(sigma * normal(random));
        break;
      case Noise::gamma: {
        std::gamma_distribution<double> gamma(0.5, 1);
        value = (1 + sigma * gamma(random) / std::sqrt(0.5)) / (1 + sigma * std::sqrt(0.5));
        break;
      }
      case Noise::pareto: {
        // Exponent 2.5: variance a / ((a-1)^2 (a-2)).
        const double a = 2.5;
        const double deviation = std::sqrt(a / ((a - 1) * (a - 1) * (a - 2)));
        const double mean = 1 / (a - 1);
        value = (1 + sigma / deviation * (std::pow(1 - unit(random), -1 / a) - 1)) / (1 + sigma / deviation * mean);
        break;
      }
      case Noise::outliers:
        value = (1 + sigma * normal(random)) * (unit(random) < 0.05 ? 3 : 1);
        break;
      case Noise::uneven:
        value = 1 + sigma * path_level * (0.5 + position) * normal(random);
        break;
      case Noise::common:
        value = 1 + sigma * std::sqrt(0.5) * (shared + normal(random));
        break;
    }
    value = std::max(value, 0.05);
  }
}

struct Layout {
  const char* key;
  const char* title;
  std::size_t parameters;
  bool sparse;
};

const std::vector<std::vector<double>> kLines{
    {4, 8, 16, 32, 64},     {2, 4, 8, 16, 32, 64, 128},     {10, 20, 30, 40, 50}, {8, 27, 64, 125, 216, 343},
    {16, 32, 64, 128, 256}, {1000, 2000, 3000, 4000, 5000}, {2, 3, 4, 6, 8, 12},  {32, 48, 64, 96, 128, 192}};
const std::vector<std::vector<double>> kAxes{{4, 8, 16, 32, 64}, {10, 20, 30, 40, 50}, {100, 200, 300, 400, 500}};

std::vector<std::vector<double>> points_of(const Layout& layout, std::size_t variant) {
  std::vector<std::vector<double>> points;
  if (layout.parameters == 1) {
    for (const double x : kLines[variant % kLines.size()]) points.push_back({x});
    return points;
  }
  if (!layout.sparse) {
    points.push_back({});
    for (std::size_t p = 0; p < layout.parameters; ++p) {
      std::vector<std::vector<double>> longer;
      for (const auto& point : points) {
        for (const double x : kAxes[p]) {
          longer.push_back(point);
          longer.back().push_back(x);
        }
      }
      points = std::move(longer);
    }
    return points;
  }
  // A line per parameter through the smallest point, and one point off all lines.
  std::vector<double> base;
  std::vector<double> extra;
  for (std::size_t p = 0; p < layout.parameters; ++p) {
    base.push_back(kAxes[p][0]);
    extra.push_back(kAxes[p][1]);
  }
  points.push_back(base);
  for (std::size_t p = 0; p < layout.parameters; ++p) {
    for (std::size_t i = 1; i < kAxes[p].size(); ++i) {
      points.push_back(base);
      points.back()[p] = kAxes[p][i];
    }
  }
  points.push_back(extra);
  return points;
}

// A constant and terms with coefficients between 1e-3 and 1e3; each parameter is missing now and then.
Function draw_function(std::size_t parameters, Random& random) {
  std::uniform_real_distribution<double> exponent(-3, 3);
  std::uniform_real_distribution<double> unit(0, 1);
  std::uniform_int_distribution<std::size_t> which(0, standard_blocks().size() - 1);
  Function function;
  function.constant = std::pow(10, exponent(random));
  std::vector<Factor> factors;
  for (std::uint32_t p = 0; p < parameters; ++p) {
    const Block block = standard_blocks()[which(random)];
    if (unit(random) < (parameters == 1 ? 1.0 / 22 : 0.1)) continue;
    factors.push_back({p, block.power, block.log, {}});
  }
  // Each factor joins the last term or starts a new one.
  for (auto& factor : factors) {
    if (function.terms.empty() || unit(random) < 0.5) {
      function.terms.push_back({std::pow(10, exponent(random)), {}});
    }
    function.terms.back().factors.push_back(factor);
  }
  return function;
}

// The hard case: a constant that hides what grows at all points but the last.
void balance(Function& function, std::span<const double> largest, Random& random) {
  std::uniform_real_distribution<double> exponent(-0.5, 0.5);
  if (function.terms.empty()) return;
  const double growing = function(largest) - function.constant;
  function.constant = growing * std::pow(10, exponent(random));
}

struct Tally {
  std::size_t cases = 0, exact = 0, covered = 0;
  std::vector<double> errors;

  void add(const Function& model, const Function& truth, std::size_t parameters, std::span<const double> far) {
    bool right = true;
    for (std::uint32_t p = 0; p < parameters; ++p)
      right = right && leading_growth(model, p) == leading_growth(truth, p);
    ++cases;
    if (right) ++exact;
    errors.push_back(100 * std::fabs(model(far) / truth(far) - 1));
  }
  [[nodiscard]] double percent(std::size_t count) const {
    return 100.0 * static_cast<double>(count) / static_cast<double>(cases);
  }
  [[nodiscard]] double quantile(double share) {
    std::sort(errors.begin(), errors.end());
    return errors[static_cast<std::size_t>(share * static_cast<double>(errors.size() - 1))];
  }
};

struct Cell {
  Tally mean, median, robust;
};

void run_set(const Layout& layout, Noise noise, double level, int repetitions, std::size_t functions,
             std::size_t variant, bool balanced, Random& random, Cell& cell) {
  const auto points = points_of(layout, variant);
  ExperimentBuilder builder("drawn", make_work());
  for (std::size_t p = 0; p < layout.parameters; ++p) builder.parameter(std::string(1, "pnm"[p]));
  const auto metric = builder.metric("time");
  std::vector<double> largest(layout.parameters, 0);
  for (const auto& point : points) {
    for (std::size_t p = 0; p < point.size(); ++p) largest[p] = std::max(largest[p], point[p]);
  }
  std::vector<Function> truths;
  std::uniform_real_distribution<double> path(0.25, 1.75);
  std::vector<double> factors(static_cast<std::size_t>(repetitions));
  for (std::size_t f = 0; f < functions; ++f) {
    truths.push_back(draw_function(layout.parameters, random));
    if (balanced) balance(truths.back(), largest, random);
    const auto callpath = builder.callpath("f" + std::to_string(f));
    const double path_level = path(random);
    for (std::size_t k = 0; k < points.size(); ++k) {
      const double position = static_cast<double>(k) / static_cast<double>(points.size() - 1);
      draw(noise, level, path_level, position, random, factors);
      std::vector<double> values;
      for (const double factor : factors) values.push_back(truths.back()(points[k]) * factor);
      builder.add(callpath, metric, builder.point(points[k]), values);
    }
  }
  const auto experiment = std::move(builder).finish().value();
  std::vector<double> far = largest;
  for (auto& value : far) value *= 16;
  const auto judge = [&](const char* modeler, Measure measure, Tally& tally, bool intervals) {
    const auto options = fit_options(modeler, layout.parameters, measure);
    const auto set = fit(*experiment, *options, make_work());
    if (!set.ok()) return;
    const Predictor predictor(*experiment, *options);
    for (const auto& model : set->models) {
      const Function& truth = truths[experiment->series()[model.series].callpath];
      tally.add(model.function, truth, layout.parameters, far);
      if (!intervals) continue;
      const auto forecast = predictor(model, far);
      const double value = truth(far);
      if (value >= forecast.confidence.low * (1 - 1e-9) && value <= forecast.confidence.high * (1 + 1e-9)) {
        ++tally.covered;
      }
    }
  };
  judge("default", Measure::mean, cell.mean, false);
  judge("default", Measure::median, cell.median, false);
  judge("robust", Measure::mean, cell.robust, true);
}

}  // namespace

int main(int argc, char** argv) {
  const auto functions = static_cast<std::size_t>(argc > 1 ? std::atoi(argv[1]) : 200);
  const auto seed = static_cast<std::uint64_t>(argc > 2 ? std::atoi(argv[2]) : 1);
  const std::string only = argc > 3 && std::string(argv[3]) != "all" ? argv[3] : "";
  const bool balanced = argc > 4 && std::string(argv[4]) == "balanced";
  // Larger layouts have fewer functions: they take longer.
  struct Study {
    Layout layout;
    std::size_t divisor;
  };
  const Study studies[] = {{{"1p", "One parameter", 1, false}, 1},
                           {{"2p-full", "Two parameters, full 5 x 5 grid", 2, false}, 2},
                           {{"2p-sparse", "Two parameters, two lines and one point", 2, true}, 2},
                           {{"3p-full", "Three parameters, full grid of 125 points", 3, false}, 5},
                           {{"3p-sparse", "Three parameters, three lines and one point", 3, true}, 5}};
  struct Setting {
    Noise noise;
    int repetitions;
  };
  const Setting settings[] = {{Noise::uniform, 5}, {Noise::gauss, 5},    {Noise::log_normal, 5}, {Noise::gamma, 5},
                              {Noise::pareto, 5},  {Noise::outliers, 5}, {Noise::uneven, 5},     {Noise::common, 5},
                              {Noise::gauss, 1},   {Noise::gamma, 1}};
  for (const auto& [layout, divisor] : studies) {
    if (!only.empty() && only != layout.key) continue;
    const std::size_t sets = layout.parameters == 1 ? kLines.size() : 1;
    const std::size_t per_set = std::max<std::size_t>(functions / divisor / sets, 20);
    fmt::print("**{} ({} functions)**\n\n", layout.title, per_set * sets);
    fmt::print("| noise | R | exact at 5 % | e16 | p90 | covered | exact at 20 % | e16 | p90 | covered |\n");
    fmt::print("|---|---|---|---|---|---|---|---|---|---|\n");
    for (const auto& setting : settings) {
      fmt::print("| {} | {} |", name_of(setting.noise), setting.repetitions);
      for (const double level : {0.05, 0.2}) {
        Random random(seed * 1000003 + static_cast<std::uint64_t>(setting.noise) * 101 +
                      static_cast<std::uint64_t>(setting.repetitions) * 17 + (level > 0.1 ? 7 : 0));
        Cell cell;
        for (std::size_t variant = 0; variant < sets; ++variant) {
          run_set(layout, setting.noise, level, setting.repetitions, per_set, variant, balanced, random, cell);
        }
        fmt::print(" {:.0f} / {:.0f} / **{:.0f}** | {:.2g} → {:.2g} | {:.2g} → {:.2g} | {:.0f} |",
                   cell.mean.percent(cell.mean.exact), cell.median.percent(cell.median.exact),
                   cell.robust.percent(cell.robust.exact), cell.mean.quantile(0.5), cell.robust.quantile(0.5),
                   cell.mean.quantile(0.9), cell.robust.quantile(0.9), cell.robust.percent(cell.robust.covered));
        std::fflush(stdout);
      }
      fmt::print("\n");
    }
    fmt::print("\n");
  }
  return 0;
}
