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

int main(int argc, char** argv) {
  const std::uint64_t megabytes = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 200;
  const auto path = std::filesystem::temp_directory_path() / "fathom_reduce_bench-0000.bin";
  bench::must(write_file(path, bench::make_dumpi_trace(megabytes << 20)));
  const Work work = make_work();
  const Blob blob = bench::must(map_file(path));
  const double size = static_cast<double>(blob.size());
  volatile std::uint64_t sink = 0;
  const Execution one_core(1);
  const ExecutionScope scope(one_core);

  const File file = bench::must(File::open(blob, work));
  const ScanResult found = bench::must(scan(file, work));
  // Every field of every record is found and the scalars are read.
  const auto decoding = bench::measure([&] {
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
  std::uint64_t events = 0;
  const auto streaming = bench::measure([&] {
    events = 0;
    const auto stream = bench::must(trace->open(LocationId(0), {}));
    std::vector<Event> buffer(1024);
    while (const std::size_t count = bench::must(stream->next(buffer))) events += count;
  });
  const double before = bench::status_mib("RssAnon:");
  double after = before;
  const auto reducing = bench::measure([&] {
    const ProfilePtr profile = bench::must(reduce(*trace, {}, work));
    sink = profile->defs().contexts.size();
    after = std::max(after, bench::status_mib("RssAnon:"));
  });
  const std::int64_t middle = (trace->known_span()->from_ns + trace->known_span()->to_ns) / 2;
  const TimeWindow small{middle, middle + 100'000};
  const auto read_window = [&] {
    const auto stream = bench::must(trace->open(LocationId(0), small));
    std::vector<Event> buffer(1024);
    while (const std::size_t count = bench::must(stream->next(buffer))) sink = count;
  };
  const auto first_window = bench::measure(read_window, 1);
  const auto window = bench::measure(read_window);
  std::filesystem::remove(path);

  std::printf("%.0f MB, %llu calls, %llu events, one thread\n", size / 1e6,
              static_cast<unsigned long long>(found.records), static_cast<unsigned long long>(events));
  const auto line = [&](const char* what, const bench::Cost& cost) {
    std::printf("%-34s %8.3f s cpu %8.2f GB/s %8.2f x decode\n", what, cost.cpu, size / cost.cpu / 1e9,
                cost.cpu / decoding.cpu);
  };
  line("decode all fields", decoding);
  line("events of the level", streaming);
  line("reduce to a profile", reducing);
  line("a window in the middle, first time", first_window);
  line("the same window again", window);
  std::printf("memory of the reduction: %.1f MiB\n", after - before);
  return 0;
}
