// Reading profiles and traces of neighbours, each made here at some tens of megabytes: against a plain pass over the
// same bytes in memory, against a pass over a file of that size that was mapped just now, which is what any program
// pays to look at each byte of a file, and against looking for the ends of lines. On one core and on all. Usage:
// neighbours_bench [megabytes [format [directory to leave the files in]]]
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/execution.hpp"
#include "formats/registry.hpp"
#include "made_neighbours.hpp"
#include "measure.hpp"
#include "profile/profile.hpp"
#include "trace/trace.hpp"

using namespace fathom;
using namespace fathom::bench;
namespace fs = std::filesystem;

namespace {

volatile std::uint64_t g_sink;

std::uint64_t sum_of(std::string_view text) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i + 8 <= text.size(); i += 8) {
    std::uint64_t word;
    std::memcpy(&word, text.data() + i, 8);
    sum += word;
  }
  return sum;
}

Cost memory_pass(std::string_view text) {
  return measure([&] { g_sink = sum_of(text); }, 5);
}

Cost line_pass(std::string_view text) {
  return measure([&] {
    std::uint64_t lines = 0;
    for (const char* at = text.data(); at < text.data() + text.size(); ++lines) {
      const void* end = std::memchr(at, '\n', static_cast<std::size_t>(text.data() + text.size() - at));
      at = end == nullptr ? text.data() + text.size() : static_cast<const char*>(end) + 1;
    }
    g_sink = lines;
  });
}

std::vector<fs::path> files_of(const fs::path& path) {
  if (!fs::is_directory(path)) return {path};
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(path)) files.push_back(entry.path());
  return files;
}

Cost mapped_pass(const fs::path& path) {
  return measure(
      [&] {
        for (const fs::path& file : files_of(path)) {
          const int descriptor = ::open(file.c_str(), O_RDONLY);
          const std::size_t size = fs::file_size(file);
          void* const mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
          if (mapped == MAP_FAILED) fail(Error("cannot be mapped", Place::in(file.string())));
          g_sink = sum_of({static_cast<const char*>(mapped), size});
          ::munmap(mapped, size);
          ::close(descriptor);
        }
      },
      5);
}

enum class As : std::uint8_t { profile, trace };

std::size_t read(const fs::path& path, As as) {
  const auto dataset = must(open_dataset(path, make_work()));
  if (as == As::trace) return must(dataset->trace())->location_count();
  return must(dataset->profile())->defs().contexts.size();
}

Cost read_cost(const fs::path& path, As as, unsigned threads, std::size_t& found) {
  const Execution execution(threads);
  const ExecutionScope scope(execution);
  return measure([&] { found = read(path, as); }, 5);
}

// `text` has the same bytes as the files.
void report(const char* name, const fs::path& path, const std::string& text, As as, bool lines) {
  const double mb = static_cast<double>(text.size()) / 1e6;
  const Cost pass = memory_pass(text);
  const Cost mapped = mapped_pass(path);
  std::size_t found = 0;
  const Cost one = read_cost(path, as, 1, found);
  const Cost all = read_cost(path, as, 0, found);
  std::printf("%-12s %4.0f MB %7zu %-9s  one core %6.0f MB/s: %5.1f x a pass, %5.1f x a mapped pass", name, mb, found,
              as == As::trace ? "locations" : "contexts", mb / one.cpu, one.cpu / pass.cpu, one.cpu / mapped.cpu);
  if (lines) std::printf(", %5.1f x ends of lines", one.cpu / line_pass(text).cpu);
  std::printf("; %u cores, by the clock %6.0f MB/s: %5.1f x a mapped pass\n", std::thread::hardware_concurrency(),
              mb / all.wall, all.wall / mapped.wall);
}

void put(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary).write(text.data(), static_cast<std::streamsize>(text.size()));
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t bytes = static_cast<std::size_t>(argc > 1 ? std::atoi(argv[1]) : 32) * 1'000'000;
  const std::string_view only = argc > 2 ? argv[2] : "";
  const bool leave = argc > 3;
  const fs::path folder =
      leave ? fs::path(argv[3]) : fs::temp_directory_path() / fmt::format("neighbours.{}", getpid());
  fs::create_directories(folder);
  const auto run = [&](const char* name, const char* file, auto make, As as, bool lines) {
    if (!only.empty() && only != name) return;
    const std::string text = make(bytes);
    put(folder / file, text);
    report(name, folder / file, text, as, lines);
    if (!leave) fs::remove(folder / file);
  };
  run("folded", "made.folded", made_folded, As::profile, true);
  run("callgrind", "made.callgrind", made_callgrind, As::profile, true);
  run("caliper", "made.cali", made_cali, As::profile, true);
  run("caliper-json", "made.json", made_caliper_json, As::profile, true);
  run("pprof", "made.pb", made_pprof, As::profile, false);
  run("speedscope", "made.speedscope.json", made_speedscope, As::profile, false);
  run("perf-script", "made.perf.txt", made_perf_script, As::trace, true);
  run("chrome", "made.trace.json", made_chrome, As::trace, true);
  run("perfetto", "made.pftrace", made_perfetto, As::trace, false);
  if (only.empty() || only == "tau") {
    constexpr std::uint32_t kThreads = 8;
    std::string all;
    fs::create_directories(folder / "tau");
    for (std::uint32_t i = 0; i < kThreads; ++i) {
      const std::string text = made_tau(bytes / kThreads, i);
      put(folder / "tau" / fmt::format("profile.{}.0.0", i), text);
      all += text;
    }
    report("tau", folder / "tau", all, As::profile, true);
  }
  if (!leave) fs::remove_all(folder);
  return 0;
}
