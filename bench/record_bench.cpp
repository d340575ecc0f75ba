// What recording adds to an MPI call, beside the call itself, and beside the reference recorder where
// FATHOM_REFERENCE_DUMPI_<LIBRARY> names its shared library. Everything in one run, so that only the ratios count.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct Costs {
  double probe = 1e9, exchange = 1e9, triple = 1e9;
  bool good = false;
};

struct Way {
  std::string name;
  std::string recorder;  // none: empty
  std::string clocks;
  Costs best;
};

void run_once(const std::string& program, Way& way, const fs::path& folder) {
  const fs::path conf = folder / "dumpi.conf";
  if (std::FILE* file = std::fopen(conf.c_str(), "w")) {
    std::fprintf(file, "fileroot=%s\ntimestamp=%s\n", (folder / "dumpi").c_str(), way.clocks.c_str());
    std::fclose(file);
  }
  const std::string preload =
      way.recorder.empty() ? "" : fmt::format("LD_PRELOAD={} DUMPI_CONF={} ", way.recorder, conf.string());
  const std::string command =
      fmt::format("cd {} && OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 {}{} 2>/dev/null",
                  folder.string(), preload, program);
  if (std::FILE* pipe = popen(command.c_str(), "r")) {
    double a = 0, b = 0, c = 0;
    if (std::fscanf(pipe, "%lf %lf %lf", &a, &b, &c) == 3) {
      way.best = {std::min(way.best.probe, a), std::min(way.best.exchange, b), std::min(way.best.triple, c), true};
    }
    pclose(pipe);
  }
  for (const auto& entry : fs::directory_iterator(folder)) fs::remove(entry.path());
}

}  // namespace

int main() {
  const fs::path home = fs::read_symlink("/proc/self/exe").parent_path();
  const fs::path folder = fs::temp_directory_path() / fmt::format("fathom-record-bench-{}", getpid());
  fs::create_directories(folder);
  fmt::print("{:8} {:22} {:>16} {:>16} {:>22}\n", "MPI", "recorder", "Iprobe", "Sendrecv", "Irecv+Isend+Waitall");
  for (const std::string library : {"openmpi", "mpich"}) {
    const fs::path program = home / ("record_calls_" + library);
    if (!fs::exists(program)) continue;
    const std::string ours = (home.parent_path() / "capture" / "lib" / ("libfathom-dumpi-" + library + ".so")).string();
    std::vector<Way> ways = {
        {"none", "", "full", {}}, {"ours, wall time", ours, "wall", {}}, {"ours, wall and CPU", ours, "full", {}}};
    if (const char* reference = std::getenv(("FATHOM_REFERENCE_DUMPI_" + library).c_str())) {
      ways.push_back({"reference", reference, "full", {}});
    }
    // In turn, and the best of each: what else the machine does meanwhile meets all of them.
    for (int round = 0; round < 7; ++round) {
      for (Way& way : ways) run_once(program.string(), way, folder);
    }
    const Costs& plain = ways.front().best;
    if (!plain.good) continue;
    fmt::print("{:8} {:22} {:13.0f} ns {:13.0f} ns {:19.0f} ns\n", library, "none", plain.probe, plain.exchange,
               plain.triple);
    for (std::size_t i = 1; i < ways.size(); ++i) {
      const Costs& with = ways[i].best;
      if (!with.good) continue;
      // Per call: the last kind makes three.
      fmt::print("{:8} {:22} {:+13.0f} ns {:+13.0f} ns {:+13.0f} ns/call\n", library, ways[i].name,
                 with.probe - plain.probe, with.exchange - plain.exchange, (with.triple - plain.triple) / 3);
    }
  }
  fs::remove_all(folder);
  return 0;
}
