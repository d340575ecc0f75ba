// A trace becomes a profile: what that costs beside the bare decoding of the same bytes, on one thread and on all.
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/execution.hpp"
#include "base/parallel.hpp"
#include "formats/dumpi/dumpi_trace.hpp"
#include "formats/dumpi/rank_set.hpp"
#include "io/file.hpp"
#include "io/output_file.hpp"
#include "made_dumpi.hpp"
#include "measure.hpp"
#include "profile/reduce/reduce.hpp"

using namespace fathom;
using namespace fathom::dumpi;

namespace {

struct Measured {
  bench::Cost decoding, streaming, reducing, first_window, window;
  double size = 0;
  double memory = 0;
  std::uint64_t calls = 0;
  std::uint64_t events = 0;
};

Measured measure_trace(std::uint64_t megabytes, bench::MadeDumpi how) {
  const auto path = std::filesystem::temp_directory_path() / "fathom_reduce_bench-0000.bin";
  bench::must(write_file(path, bench::make_dumpi_trace(megabytes << 20, how)));
  const Work work = make_work();
  const Blob blob = bench::must(map_file(path));
  std::filesystem::remove(path);
  Measured result;
  result.size = static_cast<double>(blob.size());
  volatile std::uint64_t sink = 0;

  const File file = bench::must(File::open(blob, work));
  const ScanResult found = bench::must(scan(file, work));
  result.calls = found.records;
  // Every field of every record is found and the scalars are read.
  result.decoding = bench::measure([&] {
    std::int64_t sum = 0;
    for (const Chunk& chunk : found.chunks) {
      for_each_call(file, chunk, [&](const Call& call) {
        const Function& function = call.function();
        for (std::size_t n = 0; n < function.argument_count; ++n) {
          const Argument& argument = function.argument[n];
          if (argument.shape == Shape::scalar && wire_size(argument.type) > 0) sum += call.integer(n);
        }
        return true;
      });
    }
    sink = static_cast<std::uint64_t>(sum);
  });
  const auto trace = bench::must(DumpiTrace::make(RankSet::of(bench::must(File::open(blob, work)), 0, work)));
  result.streaming = bench::measure([&] {
    result.events = 0;
    const auto stream = bench::must(trace->open(LocationId(0), {}));
    std::vector<Event> buffer(1024);
    while (const std::size_t count = bench::must(stream->next(buffer))) result.events += count;
  });
  const double before = bench::status_mib("RssAnon:");
  double after = before;
  result.reducing = bench::measure([&] {
    const ProfilePtr profile = bench::must(reduce(*trace, {}, work));
    sink = profile->defs().contexts.size();
    after = std::max(after, bench::status_mib("RssAnon:"));
  });
  result.memory = after - before;
  const std::int64_t middle = (trace->known_span()->from_ns + trace->known_span()->to_ns) / 2;
  const TimeWindow small{middle, middle + 100'000};
  const auto read_window = [&] {
    const auto stream = bench::must(trace->open(LocationId(0), small));
    std::vector<Event> buffer(1024);
    while (const std::size_t count = bench::must(stream->next(buffer))) sink = count;
  };
  result.first_window = bench::measure(read_window, 1);
  result.window = bench::measure(read_window);
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t megabytes = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 200;
  const Execution one_core(1);
  const ExecutionScope scope(one_core);
  const auto show = [&](const char* title, bench::MadeDumpi how) {
    const Measured all = measure_trace(megabytes, how);
    std::printf("%s: %.0f MB, %llu calls, %llu events, one thread\n", title, all.size / 1e6,
                static_cast<unsigned long long>(all.calls), static_cast<unsigned long long>(all.events));
    const auto line = [&](const char* what, const bench::Cost& cost) {
      std::printf("%-34s %8.3f s cpu %8.2f GB/s %8.2f x decode\n", what, cost.cpu, all.size / cost.cpu / 1e9,
                  cost.cpu / all.decoding.cpu);
    };
    line("decode all fields", all.decoding);
    line("events of the level", all.streaming);
    line("reduce to a profile", all.reducing);
    line("a window in the middle, first time", all.first_window);
    line("the same window again", all.window);
    std::printf("memory of the reduction: %.1f MiB\n", all.memory);
  };
  show("stencil", {});
  show("without CPU times", {.cpu_times = false});
  show("in functions of the program", {.regions = true});
  return 0;
}
