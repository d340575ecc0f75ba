// What one ovni event costs: our runtime library with both clocks, and the reference's where FATHOM_REFERENCE_OVNI
// names its shared library. Each runs in a process of its own.
#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct [[gnu::packed]] Event {
  std::uint8_t flags = 0, model = 0, category = 0, value = 0;
  std::uint64_t clock = 0;
  std::uint8_t payload[16] = {};
};

template <class F>
double best_ns(int count, F&& loop) {
  double best = 1e18;
  for (int i = 0; i < 7; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    loop(count);
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    best = std::min(best, took.count() / count);
  }
  return best;
}

// Writes what an event costs and what the clock costs to `out`.
int measure(const std::string& library, int out) {
  void* handle = dlopen(library.c_str(), RTLD_NOW);
  if (handle == nullptr) {
    fmt::print(stderr, "{}\n", dlerror());
    return 1;
  }
  const auto find = [&]<class T>(const char* symbol, T*& to) { to = reinterpret_cast<T*>(dlsym(handle, symbol)); };
  void (*proc_init)(int, const char*, int) = nullptr;
  void (*thread_init)(pid_t) = nullptr;
  void (*flush)() = nullptr;
  void (*thread_free)() = nullptr;
  void (*set_mcv)(Event*, const char*) = nullptr;
  void (*set_clock)(Event*, std::uint64_t) = nullptr;
  std::uint64_t (*now)() = nullptr;
  void (*emit)(Event*) = nullptr;
  find("ovni_proc_init", proc_init);
  find("ovni_thread_init", thread_init);
  find("ovni_flush", flush);
  find("ovni_thread_free", thread_free);
  find("ovni_ev_set_mcv", set_mcv);
  find("ovni_ev_set_clock", set_clock);
  find("ovni_clock_now", now);
  find("ovni_ev_emit", emit);
  proc_init(1, "bench.1", getpid());
  thread_init(getpid());
  // Below one buffer: what a disk does is not the subject.
  constexpr int kEvents = 100000;
  volatile std::uint64_t sink = 0;
  const double clock_only = best_ns(kEvents, [&](int n) {
    for (int i = 0; i < n; ++i) sink = sink + now();
  });
  const double whole = best_ns(kEvents, [&](int n) {
    flush();
    for (int i = 0; i < n; ++i) {
      Event event = {};
      set_clock(&event, now());
      set_mcv(&event, "OB.");
      emit(&event);
    }
  });
  thread_free();
  const double costs[2] = {whole, clock_only};
  return ::write(out, costs, sizeof costs) == sizeof costs ? 0 : 1;
}

}  // namespace

int main() {
  const fs::path home = fs::read_symlink("/proc/self/exe").parent_path();
  const std::string ours = (home.parent_path() / "capture" / "lib" / "libovni.so").string();
  const fs::path folder = fs::temp_directory_path() / fmt::format("fathom-ovni-bench-{}", getpid());
  setenv("OVNI_TRACEDIR", folder.c_str(), 1);
  struct Way {
    std::string name, library;
    const char* clock;
    double whole = 1e9, clock_only = 1e9;
  };
  std::vector<Way> ways = {{"ours", ours, nullptr}, {"ours, time stamp counter", ours, "tsc"}};
  if (const char* reference = std::getenv("FATHOM_REFERENCE_OVNI")) ways.push_back({"reference", reference, nullptr});
  // In turn, and the best of each: what else the machine does meanwhile meets all of them.
  for (int round = 0; round < 5; ++round) {
    for (Way& way : ways) {
      int ends[2];
      if (pipe(ends) != 0) return 1;
      const pid_t child = fork();
      if (child == 0) {
        if (way.clock != nullptr) setenv("FATHOM_OVNI_CLOCK", way.clock, 1);
        _exit(measure(way.library, ends[1]));
      }
      ::close(ends[1]);
      double costs[2];
      if (::read(ends[0], costs, sizeof costs) == sizeof costs) {
        way.whole = std::min(way.whole, costs[0]);
        way.clock_only = std::min(way.clock_only, costs[1]);
      }
      ::close(ends[0]);
      waitpid(child, nullptr, 0);
    }
  }
  fmt::print("{:28} {:>11} {:>15} {:>13}\n", "library", "event", "clock alone", "the rest");
  for (const Way& way : ways) {
    fmt::print("{:28} {:8.1f} ns {:12.1f} ns {:10.1f} ns\n", way.name, way.whole, way.clock_only,
               way.whole - way.clock_only);
  }
  fs::remove_all(folder);
  return 0;
}
