// `fathom model FILE` from its start to its end, against Extra-P 4.2.5, which needs 17.6 s to load 10,000 call paths ×
// 5 points × 5 repetitions as JSON and 172 s to model them (one core of another machine). The program is run as people
// run it: start-up, reading, modelling, ranking, the table.
//   model_command_bench [program = ./fathom] [rounds = 20]
#include <filesystem>
#include <fstream>

#include "made_experiment.hpp"
#include "run_program.hpp"

namespace {

using namespace fathom;

constexpr double kExtraPSecondsPerCallPath = (17.6 + 172) / 10'000;

}  // namespace

int main(int argc, char** argv) {
  const std::string program = argc > 1 ? argv[1] : "./fathom";
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 20;
  const auto file = std::filesystem::temp_directory_path() / fmt::format("model_command_bench.{}.json", getpid());
  fmt::print("{:>9} {:<28} {:>9} {:>9} {:>22}\n", "callpaths", "arguments", "wall ms", "cpu ms",
             "x Extra-P (wall, cpu)");
  const auto best = [&](const std::vector<std::string>& arguments) {
    return bench::best_run(program, arguments, rounds);
  };
  const auto nothing = best({"--version"});
  fmt::print("{:>9} {:<28} {:>9.1f} {:>9.1f}\n", "", "--version", 1e3 * nothing.wall, 1e3 * nothing.cpu);
  for (const std::size_t callpaths : {1'000, 10'000, 100'000}) {
    std::ofstream(file) << bench::made_experiment(callpaths, 1);
    for (const std::vector<std::string>& more :
         {std::vector<std::string>{"--threads", "1"}, {"--threads", "0"}, {"--threads", "1", "--json"}}) {
      std::vector<std::string> arguments = {"model", file.string()};
      arguments.insert(arguments.end(), more.begin(), more.end());
      const auto cost = best(arguments);
      const double reference = kExtraPSecondsPerCallPath * static_cast<double>(callpaths);
      fmt::print("{:>9} {:<28} {:>9.1f} {:>9.1f} {:>13.0f} {:>8.0f}\n", callpaths,
                 fmt::format("model FILE {}", fmt::join(more, " ")), 1e3 * cost.wall, 1e3 * cost.cpu,
                 reference / cost.wall, reference / cost.cpu);
    }
  }
  std::filesystem::remove(file);
  return 0;
}
