// ovni: dump, counts, order check and emulation of a generated trace of several hundred MB, as ratios to a plain pass
// over its bytes. Usage: ovni_bench [MILLIONS OF EVENTS]
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>

#include "base/parallel.hpp"
#include "formats/ovni/count.hpp"
#include "formats/ovni/dump.hpp"
#include "formats/ovni/emulator.hpp"
#include "formats/ovni/sort.hpp"
#include "formats/ovni/trace_writer.hpp"
#include "formats/paraver/view_writer.hpp"
#include "made_ovni.hpp"

using namespace fathom;
using namespace fathom::ovni;

namespace {

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct Times {
  double cpu = 0;
  double wall = 0;
};

Times measure(const std::function<void()>& work) {
  Times best{1e9, 1e9};
  for (int round = 0; round < 3; ++round) {
    const double cpu = cpu_seconds();
    const auto start = std::chrono::steady_clock::now();
    work();
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    best = {std::min(best.cpu, cpu_seconds() - cpu), std::min(best.wall, wall)};
  }
  return best;
}

void require(const Result<void>& status) {
  if (status.ok()) return;
  fmt::print(stderr, "{}\n", status.error().text());
  std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  const auto events = static_cast<std::uint64_t>(1e6 * (argc > 1 ? std::atof(argv[1]) : 20));
  std::string pattern = (std::filesystem::temp_directory_path() / "ovni-bench-XXXXXX").string();
  const std::filesystem::path root = mkdtemp(pattern.data());
  bench::make_ovni_trace(root / "ovni", events);
  const Work work = make_work();
  auto opened = open_native(root / "ovni", work);
  if (!opened.ok()) return 1;
  const NativeTrace& trace = *opened;
  std::uint64_t bytes = 0;
  for (const Stream& stream : trace.streams) bytes += stream.blob.size();

  volatile std::uint64_t sum = 0;
  const Times pass = measure([&] {
    std::uint64_t total = 0;
    for (const Stream& stream : trace.streams) {
      const std::byte* at = stream.blob.bytes().data();
      for (std::size_t i = 0; i + 8 <= stream.blob.size(); i += 8) total += load_unchecked<std::uint64_t>(at + i);
    }
    sum = total;
  });
  fmt::print("{:.0f} MB, {:.1f} M events, {} streams\n", static_cast<double>(bytes) / 1e6,
             static_cast<double>(events) / 1e6, trace.streams.size());
  const auto print = [&](std::string_view name, const Times& times) {
    fmt::print("{:<18} cpu {:7.3f} s  wall {:7.3f} s  {:7.1f} M events/s  {:6.1f} x plain pass (cpu)", name, times.cpu,
               times.wall, static_cast<double>(events) / 1e6 / times.wall, times.cpu / pass.cpu);
  };
  // With one thread, then with all: what the other cores bring.
  const auto report = [&](std::string_view name, const std::function<void()>& task) {
    const Times alone = [&] {
      const Execution single(1);
      const ExecutionScope scope(single);
      return measure(task);
    }();
    const Times times = measure(task);
    print(name, times);
    fmt::print("  {:4.2f} x as fast as one thread\n", alone.wall / times.wall);
  };
  print("plain pass", pass);
  fmt::print("\n");
  report("counts", [&] { require(count_events(trace, work).ok() ? success() : Error("count")); });
  report("order", [&] {
    require(parallel_for(trace.streams.size(), [&](std::size_t i) -> Result<void> {
      if (auto disorder = find_disorder(trace.streams[i])) return std::move(*disorder);
      return {};
    }));
  });
  for (const auto& [name, form] : {std::pair("dump", DumpForm::sentence), std::pair("dump -x", DumpForm::raw)}) {
    report(name, [&, wanted = form] {
      std::uint64_t size = 0;
      require(dump(
          trace, wanted, {},
          [&](std::string_view text) {
            size += text.size();
            return true;
          },
          work));
      sum = size;
    });
  }
  report("emulate", [&] {
    paraver::ViewWriter writer(root / "out");
    require(emulate(trace, {}, writer, work));
  });
  std::filesystem::remove_all(root);
  return 0;
}
