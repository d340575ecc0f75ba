// Models per second: one, two and three parameters, every modeler. Inputs are made here.
//   model_bench [repetitions]
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <random>

#include "base/parallel.hpp"
#include "experiment/builder.hpp"
#include "model/fit.hpp"
#include "model/search_space.hpp"

namespace {

using namespace fathom;

constexpr int kRepetitions = 5;

// Call paths with random functions of all parameters and 5 % noise on a full grid.
ExperimentPtr generate(std::size_t callpaths, std::size_t parameters) {
  std::mt19937_64 random(42);
  std::uniform_real_distribution<double> exponent(-3, 3);
  std::uniform_int_distribution<std::size_t> which(0, 41);
  std::normal_distribution<double> noise(0, 0.05);
  const std::vector<std::vector<double>> axes{{4, 8, 16, 32, 64}, {10, 20, 30, 40, 50}, {100, 200, 300, 400, 500}};
  std::vector<std::vector<double>> points{{}};
  for (std::size_t p = 0; p < parameters; ++p) {
    std::vector<std::vector<double>> longer;
    for (const auto& point : points) {
      for (const double x : axes[p]) {
        longer.push_back(point);
        longer.back().push_back(x);
      }
    }
    points = std::move(longer);
  }
  ExperimentBuilder builder("generated");
  for (std::size_t p = 0; p < parameters; ++p) builder.parameter(std::string(1, "pnm"[p]));
  const auto metric = builder.metric("time");
  for (std::size_t c = 0; c < callpaths; ++c) {
    const auto callpath = builder.callpath("main->f" + std::to_string(c));
    const double constant = std::pow(10, exponent(random));
    const double coefficient = std::pow(10, exponent(random));
    std::vector<Block> blocks;
    for (std::size_t p = 0; p < parameters; ++p) blocks.push_back(standard_blocks()[which(random)]);
    for (const auto& point : points) {
      double value = coefficient;
      for (std::size_t p = 0; p < parameters; ++p) value *= block_value(blocks[p], point[p]);
      std::vector<double> values;
      for (int r = 0; r < kRepetitions; ++r) values.push_back((constant + value) * (1 + noise(random)));
      builder.add(callpath, metric, builder.point(point), values);
    }
  }
  return std::move(builder).finish();
}

struct Case {
  std::size_t callpaths, parameters;
  const char* modeler;
  double reference;  // models per second of Extra-P 4.2.5 on one core; 0 = not measured
};

// Wall clock; `cpu` gets the processor time of all threads, which other programs disturb less.
double best_seconds(const Experiment& experiment, const FitOptions& options, int rounds, double& cpu) {
  double best = 1e300;
  cpu = 1e300;
  for (int round = 0; round < rounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    const std::clock_t cpu_start = std::clock();
    const auto set = fit(experiment, options, make_work());
    const auto cpu_taken = static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC;
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    cpu = std::min(cpu, cpu_taken);
    if (!set.ok()) fmt::print("failed: {}\n", set.error().text());
    best = std::min(best, taken.count());
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 5;
  const Case cases[] = {
      {1000, 1, "basic", 55},     {10000, 1, "basic", 58}, {100000, 1, "basic", 58}, {10000, 1, "refining", 0},
      {10000, 1, "segmented", 0}, {10000, 1, "robust", 0}, {1000, 2, "default", 23}, {1000, 2, "robust", 0},
      {200, 3, "default", 8.3},   {200, 3, "robust", 0},
  };
  fmt::print("{:>9} {:>10} {:<10} {:>8} {:>14} {:>14} {:>14} {:>12}\n", "callpaths", "parameters", "modeler", "threads",
             "models/s", "us per model", "cpu us/model", "x reference");
  for (const auto& item : cases) {
    const auto experiment = generate(item.callpaths, item.parameters);
    const auto options = fit_options(item.modeler, item.parameters);
    if (!options.ok()) continue;
    for (const unsigned threads : {1U, 0U}) {
      set_thread_count(threads);
      double cpu = 0;
      const double seconds = best_seconds(*experiment, *options, rounds, cpu);
      const double rate = static_cast<double>(item.callpaths) / seconds;
      fmt::print("{:>9} {:>10} {:<10} {:>8} {:>14.0f} {:>14.2f} {:>14.2f} {:>12}\n", item.callpaths, item.parameters,
                 item.modeler, thread_count(), rate, 1e6 / rate, 1e6 * cpu / static_cast<double>(item.callpaths),
                 item.reference > 0 ? fmt::format("{:.0f}", rate / item.reference) : "");
    }
  }
  return 0;
}
