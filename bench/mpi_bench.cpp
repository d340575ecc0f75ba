// Processes against threads: the same commands by 1, 2, 4 and 8 processes with one thread each, and by one process with
// as many threads, on the same trace. CPU time, since there are more processes than cores: per byte, of the busiest
// process, and what the first process does that the others do not, beside the bytes exchanged. `mpi_bench --model FILE`
// measures more numbers of processes under the first library and writes an experiment for `fathom model`.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "made_dumpi.hpp"

namespace {

namespace fs = std::filesystem;

struct Run {
  double cpu = 0;      // of all processes
  double busiest = 0;  // of one
  double first = 0;    // what the first has more than the others on average
  double sent = 0;     // bytes
  bool good = false;
};

// The few numbers of --timing.
Run read_timing(const fs::path& file) {
  std::ifstream in(file);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const auto number = [&](std::size_t from, const std::string& key) {
    const std::size_t at = text.find("\"" + key + "\":", from);
    return at == std::string::npos ? 0.0 : std::atof(text.c_str() + at + key.size() + 3);
  };
  Run run;
  unsigned count = 0;
  for (std::size_t at = text.find("\"wall_s\""); at != std::string::npos; at = text.find("\"wall_s\"", at + 1)) {
    const double cpu = number(at, "cpu_s");
    if (count++ == 0) run.first = cpu;
    run.cpu += cpu;
    run.busiest = std::max(run.busiest, cpu);
    run.sent += number(at, "bytes_sent");
  }
  run.good = count > 0;
  run.first = count > 1 ? std::max(0.0, run.first - (run.cpu - run.first) / (count - 1)) : 0;
  return run;
}

Run run(const std::string& library, const fs::path& program, const std::string& words, unsigned processes,
        unsigned threads, const fs::path& folder) {
  const fs::path timing = folder / "timing.json";
  const std::string command = fmt::format(
      "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 "
      "OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl=self,vader,tcp OMPI_MCA_plm=isolated HYDRA_LAUNCHER=fork "
      "mpirun.{} -n {} {} --timing {} --threads {} {} > {} 2>&1",
      library, processes, program.string(), timing.string(), threads, words, (folder / "out").string());
  Run best;
  for (int repeat = 0; repeat < 3; ++repeat) {
    fs::remove(timing);
    if (std::system(command.c_str()) != 0) return {};
    const Run one = read_timing(timing);
    if (!best.good || one.cpu < best.cpu) best = one;
  }
  return best;
}

}  // namespace

int main(int count, char** arguments) {
  const bool model = count > 2 && std::string(arguments[1]) == "--model";
  const fs::path build = fs::read_symlink("/proc/self/exe").parent_path().parent_path();
  const fs::path folder = fs::temp_directory_path() / fmt::format("fathom-mpi-bench-{}", getpid());
  fs::create_directories(folder);
  constexpr unsigned kRanks = 32;
  const std::string stream = fathom::bench::make_dumpi_trace(std::uint64_t{4} << 20);
  for (unsigned rank = 0; rank < kRanks; ++rank) {
    std::ofstream(folder / fmt::format("run-{:04}.bin", rank), std::ios::binary) << stream;
  }
  std::ofstream(folder / "run.meta") << "hostname=bench\nnumprocs=" << kRanks << "\nfileprefix=run\n";
  const double bytes = static_cast<double>(stream.size()) * kRanks;
  const std::string trace = (folder / "run.meta").string();
  const std::vector<std::pair<std::string, std::string>> commands = {
      {"stats", "stats " + trace + " --json"},
      {"top", "top " + trace + " --json"},
      {"messages", "events --messages --csv " + trace},
  };
  fmt::print("{} ranks, {:.0f} MB\n", kRanks, bytes / 1e6);
  fmt::print("{:8} {:9} {:>9} {:>7} {:>12} {:>7} {:>10} {:>12} {:>11}\n", "MPI", "command", "processes", "threads",
             "CPU ns/byte", "to 1", "busiest s", "first's own", "bytes sent");
  const std::vector<unsigned> many =
      model ? std::vector<unsigned>{2, 4, 6, 8, 12, 16} : std::vector<unsigned>{1, 2, 4, 8};
  std::string experiment = "PARAMETER p\nPOINTS";
  for (const unsigned processes : many) experiment += fmt::format(" ({})", processes);
  experiment += "\n";
  for (const std::string library : {"openmpi", "mpich"}) {
    const fs::path program = build / ("fathom-mpi." + library);
    if (!fs::exists(program)) continue;
    for (const auto& [name, words] : commands) {
      double one_process = 0;
      std::string all, first, sent;
      const auto row = [&](unsigned processes, unsigned threads) {
        const Run got = run(library, program, words, processes, threads, folder);
        if (!got.good) {
          fmt::print("{:8} {:9} {:9} {:7} failed\n", library, name, processes, threads);
          return;
        }
        if (one_process == 0) one_process = got.cpu;
        fmt::print("{:8} {:9} {:9} {:7} {:12.2f} {:6.2f}x {:10.3f} {:11.1f}% {:11.0f}\n", library, name, processes,
                   threads, got.cpu / bytes * 1e9, got.cpu / one_process, got.busiest, 100 * got.first / one_process,
                   got.sent);
        all += fmt::format("DATA {}\n", got.cpu);
        first += fmt::format("DATA {}\n", got.first);
        sent += fmt::format("DATA {}\n", got.sent);
      };
      for (const unsigned processes : many) row(processes, 1);
      experiment +=
          fmt::format("REGION {}\nMETRIC cpu_s\n{}METRIC first_s\n{}METRIC sent_bytes\n{}", name, all, first, sent);
      for (const unsigned threads : {2U, 4U, 8U}) {
        if (!model) row(1, threads);
      }
    }
    if (model) break;
  }
  fs::remove_all(folder);
  if (model) std::ofstream(arguments[2]) << experiment;
  return 0;
}
