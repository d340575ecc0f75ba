// The program as people run it: from its start to its end, with nothing on its output.
#pragma once

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "measure.hpp"

namespace fathom::bench {

struct ProgramCost : Cost {
  double memory_mib = 0;  // the most that it held
};

inline ProgramCost run_program(const std::string& program, const std::vector<std::string>& arguments) {
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
    fail(Error("does not run", Place::in(program)));
  }
  posix_spawn_file_actions_destroy(&quiet);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return {{wall.count(), seconds(used.ru_utime) + seconds(used.ru_stime)}, static_cast<double>(used.ru_maxrss) / 1024};
}

// The least of several runs, each figure by itself.
inline ProgramCost best_run(const std::string& program, const std::vector<std::string>& arguments, int rounds) {
  ProgramCost least{{1e300, 1e300}, 1e300};
  for (int round = 0; round < rounds; ++round) {
    const ProgramCost cost = run_program(program, arguments);
    least = {{std::min(least.wall, cost.wall), std::min(least.cpu, cost.cpu)},
             std::min(least.memory_mib, cost.memory_mib)};
  }
  return least;
}

}  // namespace fathom::bench
