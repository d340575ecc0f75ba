// What recording adds to an MPI call, beside the call itself, and beside the reference recorder where
// FATHOM_REFERENCE_DUMPI_<LIBRARY> names its shared library. Everything in one run, so that only the ratios count.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct Costs {
  double probe = 0, exchange = 0, triple = 0;
  bool good = false;
};

Costs measure(const std::string& program, const std::string& recorder, const std::string& clocks,
              const fs::path& folder) {
  const fs::path conf = folder / "dumpi.conf";
  if (std::FILE* file = std::fopen(conf.c_str(), "w")) {
    std::fprintf(file, "fileroot=%s\ntimestamp=%s\n", (folder / "dumpi").c_str(), clocks.c_str());
    std::fclose(file);
  }
  const std::string preload =
      recorder.empty() ? "" : fmt::format("LD_PRELOAD={} DUMPI_CONF={} ", recorder, conf.string());
  const std::string command =
      fmt::format("cd {} && OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 {}{} 2>/dev/null",
                  folder.string(), preload, program);
  Costs costs;
  for (int i = 0; i < 3; ++i) {
    std::FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return costs;
    double a = 0, b = 0, c = 0;
    const bool read = std::fscanf(pipe, "%lf %lf %lf", &a, &b, &c) == 3;
    pclose(pipe);
    if (!read) return costs;
    costs.probe = costs.good ? std::min(costs.probe, a) : a;
    costs.exchange = costs.good ? std::min(costs.exchange, b) : b;
    costs.triple = costs.good ? std::min(costs.triple, c) : c;
    costs.good = true;
  }
  return costs;
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
    std::string variable = "FATHOM_REFERENCE_DUMPI_" + library;
    const char* reference = std::getenv(variable.c_str());
    const Costs plain = measure(program.string(), "", "full", folder);
    if (!plain.good) continue;
    fmt::print("{:8} {:22} {:13.0f} ns {:13.0f} ns {:19.0f} ns\n", library, "none", plain.probe, plain.exchange,
               plain.triple);
    const auto row = [&](const std::string& name, const std::string& recorder, const std::string& clocks) {
      const Costs with = measure(program.string(), recorder, clocks, folder);
      if (!with.good) return;
      // Per call: the last kind makes three.
      fmt::print("{:8} {:22} {:+13.0f} ns {:+13.0f} ns {:+13.0f} ns/call\n", library, name, with.probe - plain.probe,
                 with.exchange - plain.exchange, (with.triple - plain.triple) / 3);
      for (const auto& entry : fs::directory_iterator(folder)) fs::remove(entry.path());
    };
    row("ours, wall time", ours, "wall");
    row("ours, wall and CPU", ours, "full");
    if (reference != nullptr) row("reference", reference, "full");
  }
  fs::remove_all(folder);
  return 0;
}
