// The index of timelines on DUMPI, ovni and HPCToolkit traces: building as a ratio to a plain pass over the same
// events, size as a share of the input, and what a view of 2,048 pixels costs at every zoom, for traces of growing
// size. Usage: timeline_bench [FAMILY]... [MILLIONS OF TRANSITIONS]...
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "base/parallel.hpp"
#include "formats/hpctoolkit/database_writer.hpp"
#include "formats/registry.hpp"
#include "io/output_file.hpp"
#include "made_dumpi.hpp"
#include "made_ovni.hpp"
#include "made_samples.hpp"
#include "measure.hpp"
#include "trace/summary/timeline.hpp"

using namespace fathom;
using namespace fathom::bench;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t kRows = 4;
constexpr std::size_t kBins = 512;
constexpr std::size_t kTiles = 4;  // side by side: 2,048 pixels

std::uint64_t bytes_below(const fs::path& path) {
  std::uint64_t sum = 0;
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) sum += entry.file_size();
  }
  return sum;
}

void make_dumpi(const fs::path& directory, double transitions) {
  // A call enters and leaves; 60 bytes of it on average.
  const auto bytes = static_cast<std::uint64_t>(transitions / 2 / kRows * 56.6);
  const std::string rank = make_dumpi_trace(bytes);
  std::string meta = "hostname=node\nnumprocs=4\nusername=u\nstartime=0\nfileprefix=dumpi\nversion=1\nsubversion=1\n";
  must(write_file(directory / "dumpi.meta", meta));
  for (std::size_t r = 0; r < kRows; ++r) must(write_file(directory / fmt::format("dumpi-{:04}.bin", r), rank));
}

// Millisecond of CPU for what a view shows: all rows, 2,048 pixels, somewhere in the trace.
double view_ms(const summary::Timeline& timeline, double part, bool exact) {
  const auto span = static_cast<double>(timeline.end_ns() - timeline.begin_ns());
  summary::TileRequest request;
  for (std::uint32_t r = 0; r < timeline.row_count(); ++r) request.rows.push_back({r});
  request.k = static_cast<unsigned>(std::max(0.0, std::ceil(std::log2(span * part / (kTiles * kBins)))));
  request.exact = exact;
  const std::int64_t tile = static_cast<std::int64_t>(kBins) << request.k;
  const auto first = static_cast<std::int64_t>(span * (part < 1 ? 0.37 : 0)) / tile;
  volatile std::size_t sink = 0;
  return 1e3 * measure(
                   [&] {
                     for (std::size_t i = 0; i < kTiles; ++i) {
                       request.first_ns = (first + static_cast<std::int64_t>(i)) * tile;
                       sink = sink + summary::encode_tile(timeline, request).size();
                     }
                   },
                   5)
                   .cpu;
}

void run(std::string_view family, const fs::path& path, const fs::path& directory) {
  const Work work = make_work();
  const auto dataset = must(open_dataset(path, work));
  const auto trace = must(dataset->trace());
  std::uint64_t events = 0;
  const auto pass = measure(
      [&] {
        std::atomic<std::uint64_t> sum{0};
        must(parallel_for(trace->location_count(), [&](std::size_t i) -> Result<void> {
          FATHOM_TRY(auto stream, trace->open(LocationId(i), {}));
          std::vector<Event> buffer(1024);
          while (true) {
            FATHOM_TRY(const std::size_t count, stream->next(buffer));
            if (count == 0) return {};
            sum += count;
          }
        }));
        events = sum;
      },
      2);
  summary::IndexPlace place;
  place.file = directory / "bench.fathom-index";
  std::shared_ptr<summary::Timeline> timeline;
  const auto built = measure(
      [&] {
        timeline = nullptr;
        fs::remove(place.file);
        timeline = must(summary::Timeline::build(*trace, {}, work, place));
      },
      2);
  const auto opened = measure([&] { timeline = must(summary::Timeline::build(*trace, {}, work, place)); });
  const auto transitions = static_cast<double>(timeline->progress().transitions);
  const auto size = static_cast<double>(fs::file_size(place.file));
  const auto input = static_cast<double>(bytes_below(directory)) - size;
  fmt::print("{:<11}{:8.1f} M {:6.1f}  {:5.2f} x  {:5.1f} %  {:5.2f} B  {:6.1f} ms |", family, transitions / 1e6,
             static_cast<double>(events) / pass.cpu / 1e6, built.cpu / pass.cpu, 100 * size / input, size / transitions,
             1e3 * opened.cpu);
  for (const double part : {1.0, 0.1, 0.01, 0.001}) fmt::print(" {:6.2f}", view_ms(*timeline, part, true));
  fmt::print(" | {:5.2f}  {:.0f} MiB\n", view_ms(*timeline, 1, false), status_mib("RssAnon:"));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<double> millions;
  std::vector<std::string_view> families;
  for (int i = 1; i < argc; ++i) {
    if (std::atof(argv[i]) > 0) {
      millions.push_back(std::atof(argv[i]));
    } else {
      families.emplace_back(argv[i]);
    }
  }
  if (millions.empty()) millions = {1, 10};
  if (families.empty()) families = {"dumpi", "ovni", "hpctoolkit"};
  fmt::print(
      "family     transitions  M ev/s  build/pass  index/input  per tr.  open     | ms CPU for {} rows x 2048 px, "
      "whole, "
      "1/10, 1/100, 1/1000 | placeholder, memory\n",
      kRows);
  for (const double count : millions) {
    for (const std::string_view name : families) {
      std::string pattern = (fs::temp_directory_path() / "timeline-bench-XXXXXX").string();
      const fs::path root = mkdtemp(pattern.data());
      fs::path path = root;
      if (name == "dumpi") {
        make_dumpi(root, count * 1e6);
        path = root / "dumpi.meta";
      } else if (name == "ovni") {
        make_ovni_trace(root, static_cast<std::uint64_t>(count * 1e6 * 1.05));
      } else {
        path = root / "db";
        make_sample_database(path, kRows, static_cast<std::uint64_t>(count * 1e6) / kRows);
      }
      run(name, path, root);
      fs::remove_all(root);
    }
  }
  return 0;
}
