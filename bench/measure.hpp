// What the benchmarks share: time, memory, and an end with a message where something cannot be read.
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/result.hpp"

namespace fathom::bench {

[[noreturn]] inline void fail(const Error& error) {
  std::fprintf(stderr, "%s\n", error.text().c_str());
  std::exit(1);
}
template <class T>
T must(Result<T> result) {
  if (!result.ok()) fail(result.error());
  return std::move(result).value();
}
inline void must(const Result<void>& result) {
  if (!result.ok()) fail(result.error());
}

// Of all threads: what the work costs, whatever else the machine does.
inline double cpu_now() {
  struct rusage usage {};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct Cost {
  double wall = 0;
  double cpu = 0;
};

// The best of `repeats`, wall and cpu each.
template <class Work>
Cost measure(Work&& work, int repeats = 3) {
  Cost best{1e300, 1e300};
  for (int i = 0; i < repeats; ++i) {
    const double cpu = cpu_now();
    const auto start = std::chrono::steady_clock::now();
    work();
    best.wall = std::min(best.wall, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    best.cpu = std::min(best.cpu, cpu_now() - cpu);
  }
  return best;
}

// A line of /proc/self/status: "VmHWM:" the peak, "RssAnon:" own pages, "RssFile:" mapped ones.
inline double status_mib(const char* key) {
  double kib = 0;
  if (FILE* file = std::fopen("/proc/self/status", "r")) {
    char line[256];
    while (std::fgets(line, sizeof(line), file) != nullptr) {
      if (std::strncmp(line, key, std::strlen(key)) == 0) kib = std::atof(line + std::strlen(key));
    }
    std::fclose(file);
  }
  return kib / 1024;
}

}  // namespace fathom::bench
