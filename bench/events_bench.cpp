// The events of a made DUMPI trace as CSV and as JSON, with and without the arguments of calls, against reading them.
// One thread, CPU time.
//   events_bench [MB of trace]
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/execution.hpp"
#include "formats/dumpi/dumpi_trace.hpp"
#include "io/file.hpp"
#include "io/output_file.hpp"
#include "made_dumpi.hpp"
#include "measure.hpp"
#include "report/table_output.hpp"
#include "trace/event_table.hpp"

using namespace fathom;

int main(int argc, char** argv) {
  const std::uint64_t megabytes = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 200;
  const auto path = std::filesystem::temp_directory_path() / "fathom_events_bench-0000.bin";
  bench::must(write_file(path, bench::make_dumpi_trace(megabytes << 20)));
  const Work work = make_work();
  const Blob blob = bench::must(map_file(path));
  std::filesystem::remove(path);
  const Execution one_core(1);
  const ExecutionScope scope(one_core);
  const auto set = dumpi::RankSet::of(bench::must(dumpi::File::open(blob, work)), 0, work);
  const auto trace = bench::must(dumpi::DumpiTrace::make(set));

  std::uint64_t events = 0;
  const bench::Cost reading = bench::measure([&] {
    events = 0;
    const auto stream = bench::must(trace->open(LocationId(0), {}));
    std::vector<Event> buffer(1024);
    while (const std::size_t count = bench::must(stream->next(buffer))) events += count;
  });
  FILE* nowhere = std::fopen("/dev/null", "w");
  const auto writing = [&](RowForm form, bool details) {
    return bench::measure([&] {
      Output out(fileno(nowhere));
      bench::must(write_rows(out, form, *event_table(*trace, {.details = details})));
    });
  };
  const bench::Cost bare = writing(RowForm::csv, false);
  const bench::Cost csv = writing(RowForm::csv, true);
  const bench::Cost json = writing(RowForm::json, true);
  std::fclose(nowhere);

  std::printf("%.0f MB, %llu events, one thread\n", static_cast<double>(blob.size()) / 1e6,
              static_cast<unsigned long long>(events));
  const auto line = [&](const char* what, const bench::Cost& cost) {
    std::printf("%-24s %8.3f s cpu %8.1f M events/s %8.2f x reading\n", what, cost.cpu,
                static_cast<double>(events) / cost.cpu / 1e6, cost.cpu / reading.cpu);
  };
  line("reading", reading);
  line("CSV without arguments", bare);
  line("CSV", csv);
  line("JSON", json);
  std::printf("JSON costs %.2f times as much as CSV\n", json.cpu / csv.cpu);
  return 0;
}
