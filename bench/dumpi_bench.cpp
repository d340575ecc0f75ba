// Decoding, dump, statistics and events of a generated trace, as ratios to a plain pass over the same bytes.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <numeric>

#include "base/parallel.hpp"
#include "formats/dumpi/dump.hpp"
#include "formats/dumpi/dumpi_trace.hpp"
#include "formats/dumpi/rank_set.hpp"
#include "formats/dumpi/statistics.hpp"
#include "io/file.hpp"
#include "io/output_file.hpp"
#include "made_dumpi.hpp"

namespace {

using namespace fathom;
using namespace fathom::dumpi;

template <class Body>
double best_of(int times, Body&& body) {
  double best = 1e9;
  for (int n = 0; n < times; ++n) {
    const auto begin = std::chrono::steady_clock::now();
    body();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t megabytes = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 400;
  const auto path = std::filesystem::temp_directory_path() / "fathom_dumpi_bench-0000.bin";
  if (!write_file(path, bench::make_dumpi_trace(megabytes << 20))) return 1;
  const Work work = make_work();
  auto blob = map_file(path);
  if (!blob) return 1;
  const double size = static_cast<double>(blob->size());
  volatile std::uint64_t sink = 0;

  const double plain = best_of(3, [&] {
    std::uint64_t sum = 0;
    const std::byte* p = blob->bytes().data();
    for (std::size_t i = 0; i + 8 <= blob->size(); i += 8) sum += detail::load<std::uint64_t>(p + i);
    sink = sum;
  });
  auto file = File::open(*blob, work);
  if (!file) return 1;
  std::uint64_t records = 0;
  const double scanning = best_of(3, [&] { records = scan(*file, work)->records; });
  const auto found = scan(*file, work);
  // Every field of every record is found and the scalars are read.
  const double decoding = best_of(3, [&] {
    (void)parallel_for(found->chunks.size(), [&](std::size_t i) -> Result<void> {
      std::int64_t sum = 0;
      for_each_call(*file, found->chunks[i], [&](const Call& call) {
        const Function& function = call.function();
        for (std::size_t n = 0; n < function.argument_count; ++n) {
          const Argument& argument = function.argument[n];
          if (argument.shape == Shape::scalar && wire_size(argument.type) > 0) sum += call.integer(n);
        }
        return true;
      });
      sink = static_cast<std::uint64_t>(sum);
      return {};
    });
  });
  std::uint64_t text_bytes = 0;
  const double dumping = best_of(2, [&] {
    text_bytes = 0;
    (void)dump(*file, *found, {"stream"}, [&](std::string_view text) {
      text_bytes += text.size();
      return true;
    });
  });
  const double counting = best_of(3, [&] {
    auto again = File::open(*blob, work);
    const auto set = RankSet::of(*std::move(again), 0, work);
    sink = statistics(*set, {})->calls.size();
  });
  const double streaming = best_of(3, [&] {
    auto again = File::open(*blob, work);
    auto trace = DumpiTrace::make(RankSet::of(*std::move(again), 0, work));
    auto stream = (*trace)->open(LocationId(0), {});
    std::uint64_t events = 0;
    EventCursor cursor(*std::move(stream), 1024);
    while (cursor.next() != nullptr) ++events;
    sink = events;
  });
  const double matching = best_of(2, [&] {
    auto again = File::open(*blob, work);
    auto trace = DumpiTrace::make(RankSet::of(*std::move(again), 0, work));
    (void)(*trace)->messages({}, [](const Message&) { return true; });
  });
  std::filesystem::remove(path);

  std::printf("%.0f MB, %llu calls, %u threads\n", size / 1e6, static_cast<unsigned long long>(records),
              thread_count());
  const auto line = [&](const char* what, double seconds) {
    std::printf("%-28s %8.3f s %8.2f GB/s %8.1f x plain pass\n", what, seconds, size / seconds / 1e9, seconds / plain);
  };
  line("plain pass (1 thread)", plain);
  line("scan (1 thread)", scanning);
  line("decode all fields", decoding);
  line("dump", dumping);
  std::printf("%-28s %8.2f GB of text, %.2f GB/s\n", "", static_cast<double>(text_bytes) / 1e9,
              static_cast<double>(text_bytes) / dumping / 1e9);
  line("stats (open, scan, count)", counting);
  line("events of the level (1 thread)", streaming);
  line("ends of messages, in order", matching);
  return 0;
}
