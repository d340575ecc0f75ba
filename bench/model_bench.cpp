// Models per second and the share of the time that goes into reading: one, two and three parameters, every modeler.
// Inputs are made here, as JSON in memory, with five repetitions and 5 % noise.
//   model_bench [rounds = 5] [modeler]
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <ctime>

#include "base/parallel.hpp"
#include "formats/registry.hpp"
#include "made_experiment.hpp"
#include "model/fit.hpp"

namespace {

using namespace fathom;

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
    const Blob blob = Blob::own("generated.json", bench::made_experiment(item.callpaths, item.parameters));
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
