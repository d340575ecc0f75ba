// `fathom model FILE` from its start to its end, against Extra-P 4.2.5, which needs 17.6 s to load 10,000 call paths ×
// 5 points × 5 repetitions as JSON and 172 s to model them (one core of another machine). The program is run as people
// run it: start-up, reading, modelling, ranking, the table.
//   model_command_bench [program = ./fathom] [rounds = 20]
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "made_experiment.hpp"
#include "measure.hpp"

namespace {

using namespace fathom;

constexpr double kExtraPSecondsPerCallPath = (17.6 + 172) / 10'000;

// Wall and CPU time of one run with nothing on its output.
bench::Cost run(const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<char*> words = {const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    posix_spawn_file_actions_addopen(&quiet, stream, "/dev/null", O_WRONLY, 0);
  }
  const auto start = std::chrono::steady_clock::now();
  pid_t child = 0;
  const int failed = posix_spawn(&child, program.c_str(), &quiet, nullptr, words.data(), environ);
  int status = 0;
  rusage used{};
  if (failed != 0 || wait4(child, &status, 0, &used) != child || status != 0) {
    bench::fail(Error("does not run", Place::in(program)));
  }
  posix_spawn_file_actions_destroy(&quiet);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return {wall.count(), seconds(used.ru_utime) + seconds(used.ru_stime)};
}

}  // namespace

int main(int argc, char** argv) {
  const std::string program = argc > 1 ? argv[1] : "./fathom";
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 20;
  const auto file = std::filesystem::temp_directory_path() / fmt::format("model_command_bench.{}.json", getpid());
  fmt::print("{:>9} {:<28} {:>9} {:>9} {:>22}\n", "callpaths", "arguments", "wall ms", "cpu ms",
             "x Extra-P (wall, cpu)");
  const auto best = [&](const std::vector<std::string>& arguments) {
    bench::Cost least{1e300, 1e300};
    for (int round = 0; round < rounds; ++round) {
      const bench::Cost cost = run(program, arguments);
      least = {std::min(least.wall, cost.wall), std::min(least.cpu, cost.cpu)};
    }
    return least;
  };
  const bench::Cost nothing = best({"--version"});
  fmt::print("{:>9} {:<28} {:>9.1f} {:>9.1f}\n", "", "--version", 1e3 * nothing.wall, 1e3 * nothing.cpu);
  for (const std::size_t callpaths : {1'000, 10'000, 100'000}) {
    std::ofstream(file) << bench::made_experiment(callpaths, 1);
    for (const char* threads : {"1", "0"}) {
      const bench::Cost cost = best({"model", file.string(), "--threads", threads});
      const double reference = kExtraPSecondsPerCallPath * static_cast<double>(callpaths);
      fmt::print("{:>9} {:<28} {:>9.1f} {:>9.1f} {:>13.0f} {:>8.0f}\n", callpaths,
                 fmt::format("model FILE --threads {}", threads), 1e3 * cost.wall, 1e3 * cost.cpu,
                 reference / cost.wall, reference / cost.cpu);
    }
  }
  std::filesystem::remove(file);
  return 0;
}
