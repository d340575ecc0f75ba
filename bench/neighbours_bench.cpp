// Reading profiles and traces of neighbours, each made here at some tens of megabytes: against a plain pass over the
// same bytes in memory, against a pass over a file of that size that was mapped just now, which is what any program
// pays to look at each byte of a file, and against finding no more than where things begin: the ends of lines, the
// structural characters of JSON, the fields of messages. On one core and on all, with the memory that it takes beyond
// what the process had, in sizes of the file; the file itself, which is mapped, counts once. Usage:
// neighbours_bench [megabytes [format [directory to leave the files in]]]
#include <fcntl.h>
#include <simdjson.h>
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

// What stands where: the least that a reader has to find out.
enum class Marks : std::uint8_t { lines, json, fields };

std::uint64_t line_ends(std::string_view text) {
  std::uint64_t lines = 0;
  for (const char* at = text.data(); at < text.data() + text.size(); ++lines) {
    const void* end = std::memchr(at, '\n', static_cast<std::size_t>(text.data() + text.size() - at));
    at = end == nullptr ? text.data() + text.size() : static_cast<const char*>(end) + 1;
  }
  return lines;
}

// Of messages in a message.
std::uint64_t fields(std::string_view text) {
  std::uint64_t count = 0;
  protobuf::Reader messages(text);
  for (protobuf::Field field; messages.next(field); ++count) {
    protobuf::Reader inner(field.bytes);
    for (protobuf::Field part; inner.next(part);) ++count;
  }
  return count;
}

Cost mark_pass(std::string_view text, Marks marks) {
  if (marks != Marks::json) return measure([&] { g_sink = marks == Marks::lines ? line_ends(text) : fields(text); }, 5);
  // The first step of simdjson, which finds brackets, colons, commas and where values begin.
  const simdjson::padded_string padded(text);
  std::unique_ptr<simdjson::internal::dom_parser_implementation> parser;
  if (simdjson::get_active_implementation()->create_dom_parser_implementation(text.size(), 1024, parser)) std::exit(1);
  return measure(
      [&] {
        if (parser->stage1(reinterpret_cast<const std::uint8_t*>(padded.data()), padded.size(),
                           simdjson::stage1_mode::regular)) {
          std::exit(1);
        }
        g_sink = parser->n_structural_indexes;
      },
      5);
}

const char* said(Marks marks) {
  return marks == Marks::lines ? "ends of lines" : marks == Marks::json ? "structural characters" : "fields";
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

constexpr std::string_view kPeak = "--peak";

// Peak of the memory of a process that reads it, without what the process had before.
double peak_mib(const fs::path& path, As as) {
  const std::string command = fmt::format("'{}' {} '{}' {}", fs::read_symlink("/proc/self/exe").string(), kPeak,
                                          path.string(), as == As::trace ? "trace" : "profile");
  double mib = 0;
  if (FILE* const out = ::popen(command.c_str(), "r")) {
    if (std::fscanf(out, "%lf", &mib) != 1) mib = 0;
    ::pclose(out);
  }
  return mib;
}

// `text` has the same bytes as the files.
void report(const char* name, const fs::path& path, const std::string& text, As as, Marks marks) {
  const double mb = static_cast<double>(text.size()) / 1e6;
  const Cost pass = memory_pass(text);
  const Cost mapped = mapped_pass(path);
  std::size_t found = 0;
  const Cost one = read_cost(path, as, 1, found);
  const Cost all = read_cost(path, as, 0, found);
  std::printf("%-12s %4.0f MB %7zu %-9s  one core %6.0f MB/s: %5.1f x a pass, %5.1f x a mapped pass", name, mb, found,
              as == As::trace ? "locations" : "contexts", mb / one.cpu, one.cpu / pass.cpu, one.cpu / mapped.cpu);
  std::printf(", %5.1f x %s; %u cores, by the clock %6.0f MB/s: %5.1f x a mapped pass; memory %.1f x the file\n",
              one.cpu / mark_pass(text, marks).cpu, said(marks), std::thread::hardware_concurrency(), mb / all.wall,
              all.wall / mapped.wall, peak_mib(path, as) * 1024 * 1024 / 1e6 / mb);
}

void put(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary).write(text.data(), static_cast<std::streamsize>(text.size()));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4 && argv[1] == kPeak) {
    const double before = status_mib("VmHWM:");
    const Execution execution(1);
    const ExecutionScope scope(execution);
    read(argv[2], std::string_view(argv[3]) == "trace" ? As::trace : As::profile);
    std::printf("%f\n", status_mib("VmHWM:") - before);
    return 0;
  }
  const std::size_t bytes = static_cast<std::size_t>(argc > 1 ? std::atoi(argv[1]) : 32) * 1'000'000;
  const std::string_view only = argc > 2 ? argv[2] : "";
  const bool leave = argc > 3;
  const fs::path folder =
      leave ? fs::path(argv[3]) : fs::temp_directory_path() / fmt::format("neighbours.{}", getpid());
  fs::create_directories(folder);
  const auto run = [&](const char* name, const char* file, auto make, As as, Marks marks) {
    if (!only.empty() && only != name) return;
    const std::string text = make(bytes);
    put(folder / file, text);
    report(name, folder / file, text, as, marks);
    if (!leave) fs::remove(folder / file);
  };
  run("folded", "made.folded", made_folded, As::profile, Marks::lines);
  run("callgrind", "made.callgrind", made_callgrind, As::profile, Marks::lines);
  run("caliper", "made.cali", made_cali, As::profile, Marks::lines);
  run("caliper-json", "made.json", made_caliper_json, As::profile, Marks::json);
  run("pprof", "made.pb", made_pprof, As::profile, Marks::fields);
  run("speedscope", "made.speedscope.json", made_speedscope, As::profile, Marks::json);
  run("evented", "made.speedscope.json", made_speedscope_events, As::trace, Marks::json);
  run("perf-script", "made.perf.txt", made_perf_script, As::trace, Marks::lines);
  run("chrome", "made.trace.json", made_chrome, As::trace, Marks::json);
  run("perfetto", "made.pftrace", made_perfetto, As::trace, Marks::fields);
  run("paraver", "made.prv", made_paraver, As::trace, Marks::lines);
  if (only.empty() || only == "tau") {
    constexpr std::uint32_t kThreads = 8;
    std::string all;
    fs::create_directories(folder / "tau");
    for (std::uint32_t i = 0; i < kThreads; ++i) {
      const std::string text = made_tau(bytes / kThreads, i);
      put(folder / "tau" / fmt::format("profile.{}.0.0", i), text);
      all += text;
    }
    report("tau", folder / "tau", all, As::profile, Marks::lines);
  }
  if (!leave) fs::remove_all(folder);
  return 0;
}
