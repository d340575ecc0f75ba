// Models per second and the share of the time that goes into reading: one, two and three parameters, every modeler.
// Inputs are made here, as JSON in memory, with five repetitions and 5 % noise.
//   model_bench [rounds = 5] [modeler]
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <random>

#include "base/parallel.hpp"
#include "formats/registry.hpp"
#include "model/fit.hpp"
#include "model/search_space.hpp"

namespace {

using namespace fathom;

constexpr int kRepetitions = 5;

std::vector<std::vector<double>> full_grid(std::size_t parameters) {
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
  return points;
}

// Call paths with random functions of all parameters.
std::string generate(std::size_t callpaths, std::size_t parameters) {
  std::mt19937_64 random(42);
  std::uniform_real_distribution<double> exponent(-3, 3);
  std::uniform_int_distribution<std::size_t> which(0, standard_blocks().size() - 1);
  std::normal_distribution<double> noise(0, 0.05);
  const auto points = full_grid(parameters);
  std::string json = R"({"parameters":[)";
  for (std::size_t p = 0; p < parameters; ++p) json += fmt::format("{}\"{}\"", p > 0 ? "," : "", "pnm"[p]);
  json += R"(],"measurements":{)";
  for (std::size_t c = 0; c < callpaths; ++c) {
    json += fmt::format("{}\"main->f{}\":{{\"time\":[", c > 0 ? "," : "", c);
    const double constant = std::pow(10, exponent(random));
    const double coefficient = std::pow(10, exponent(random));
    std::vector<Block> blocks;
    for (std::size_t p = 0; p < parameters; ++p) blocks.push_back(standard_blocks()[which(random)]);
    for (std::size_t k = 0; k < points.size(); ++k) {
      double value = coefficient;
      for (std::size_t p = 0; p < parameters; ++p) value *= block_value(blocks[p], points[k][p]);
      json += fmt::format("{}{{\"point\":[{}],\"values\":[", k > 0 ? "," : "", fmt::join(points[k], ","));
      for (int r = 0; r < kRepetitions; ++r) {
        json += fmt::format("{}{}", r > 0 ? "," : "", (constant + value) * (1 + noise(random)));
      }
      json += "]}";
    }
    json += "]}";
  }
  return json + "}}";
}

struct Case {
  std::size_t callpaths, parameters;
  const char* modeler;
  double reference;  // models per second of Extra-P 4.2.5 on one core; 0 = not measured
};

// Best wall clock and processor time of all threads; the latter is what other programs disturb less.
struct Time {
  double wall = 1e300, cpu = 1e300;
};
template <class F>
Time best_of(int rounds, const F& work) {
  Time best;
  for (int round = 0; round < rounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    const std::clock_t cpu_start = std::clock();
    work();
    best.cpu = std::min(best.cpu, static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    best.wall = std::min(best.wall, taken.count());
  }
  return best;
}

ExperimentPtr read(const Blob& blob) {
  const auto dataset = open_source(Source::of(blob), make_work(), "extrap-json");
  if (!dataset.ok()) return nullptr;
  const auto experiment = (*dataset)->experiment();
  return experiment.ok() ? *experiment : nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 5;
  const std::string only = argc > 2 ? argv[2] : "";
  const Case cases[] = {
      {1000, 1, "basic", 55},     {10000, 1, "basic", 58}, {100000, 1, "basic", 58}, {10000, 1, "refining", 0},
      {10000, 1, "segmented", 0}, {10000, 1, "robust", 0}, {1000, 2, "default", 23}, {1000, 2, "robust", 0},
      {200, 3, "default", 8.3},   {200, 3, "robust", 0},
  };
  fmt::print("{:>9} {:>10} {:<10} {:>7} {:>10} {:>12} {:>12} {:>11} {:>13}\n", "callpaths", "parameters", "modeler",
             "threads", "models/s", "us per model", "cpu us/model", "x reference", "reading share");
  for (const auto& item : cases) {
    if (!only.empty() && only != item.modeler) continue;
    const Blob blob = Blob::own("generated.json", generate(item.callpaths, item.parameters));
    const auto options = fit_options(item.modeler, item.parameters);
    if (!options.ok()) continue;
    for (const unsigned threads : {1U, 0U}) {
      const Execution execution(threads);
      const ExecutionScope scope(execution);
      ExperimentPtr experiment;
      const Time reading = best_of(rounds, [&] { experiment = read(blob); });
      if (experiment == nullptr) {
        fmt::print("the generated input cannot be read\n");
        return 1;
      }
      const Time fitting = best_of(rounds, [&] {
        const auto set = fit(*experiment, *options, make_work());
        if (!set.ok()) fmt::print("failed: {}\n", set.error().text());
      });
      const auto models = static_cast<double>(item.callpaths);
      fmt::print("{:>9} {:>10} {:<10} {:>7} {:>10.0f} {:>12.2f} {:>12.2f} {:>11} {:>12.0f}%\n", item.callpaths,
                 item.parameters, item.modeler, thread_count(), models / fitting.wall, 1e6 * fitting.wall / models,
                 1e6 * fitting.cpu / models,
                 item.reference > 0 ? fmt::format("{:.0f}", models / fitting.wall / item.reference) : "",
                 100 * reading.wall / (reading.wall + fitting.wall));
    }
  }
  return 0;
}
