// SQL over the tables of a dataset beside the engine's own tables, the first row of a large trace, and Python beside
// the same work in C++. Needs DuckDB (`./dev build --sql`, or FATHOM_DUCKDB) and for the last part python3 with numpy.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "formats/format.hpp"
#include "formats/profile_dataset.hpp"
#include "formats/registry.hpp"
#include "io/output_file.hpp"
#include "made_dumpi.hpp"
#include "made_profile.hpp"
#include "measure.hpp"
#include "query/database.hpp"
#include "tables/tables.hpp"

using namespace fathom;
namespace fs = std::filesystem;

namespace {

std::uint64_t read_rows(const TableSource& source) {
  std::uint64_t rows = 0;
  for (std::size_t part = 0; part < source.parts(); ++part) {
    const auto reader = bench::must(source.open(part, {}));
    for (Batch batch; bench::must(reader->next(batch));) rows += batch.rows;
  }
  return rows;
}

void group_by(const fs::path& path) {
  const auto database = bench::must(query::Database::open({}));
  bench::must(database->add(bench::must(open_dataset(path, make_work(), {}))));
  bench::must(database->seal());
  bench::must(database->run("CREATE TABLE own AS SELECT * FROM value"));
  const auto ask = [&](const std::string& table) {
    return bench::measure([&] {
      const auto result = bench::must(
          database->query("SELECT metric, location, sum(value) FROM " + table + " GROUP BY metric, location"));
      read_rows(*result.rows);
    });
  };
  const auto theirs = ask("own");
  const auto ours = ask("value");
  fmt::print(
      "group by metric and location over 5.1 M rows: the engine's own table {:.0f} ms, value {:.0f} ms: {:.2f} "
      "times (CPU: {:.2f} times)\n",
      theirs.wall * 1e3, ours.wall * 1e3, ours.wall / theirs.wall, ours.cpu / theirs.cpu);
}

void first_row(const fs::path& folder) {
  constexpr std::size_t kRanks = 19;  // 105 million events
  constexpr std::uint64_t kBytes = 100U << 20;
  bench::must(write_file(folder / "big-0000.bin", bench::make_dumpi_trace(kBytes)));
  // One file under many names: the disk is not the subject.
  for (std::size_t rank = 1; rank < kRanks; ++rank) {
    fs::create_hard_link(folder / "big-0000.bin", folder / fmt::format("big-{:04}.bin", rank));
  }
  bench::must(write_file(folder / "big.meta",
                         fmt::format("hostname=a\nnumprocs={}\nusername=b\nstartime=1\nfileprefix=big\nversion=13\n"
                                     "subversion=0\nsubsubversion=0\n",
                                     kRanks)));
  const double before = bench::status_mib("RssAnon:");
  const auto cost = bench::measure(
      [&] {
        const auto database = bench::must(query::Database::open({}));
        bench::must(database->add(bench::must(open_dataset(folder / "big.meta", make_work(), {}))));
        bench::must(database->seal());
        const auto result = bench::must(database->query("SELECT * FROM event LIMIT 1"));
        read_rows(*result.rows);
      },
      3);
  fmt::print(
      "first row of event of a trace of {:.1f} GB, 105 M events: {:.2f} s, CPU {:.2f} s, {:.0f} MiB of own memory\n",
      static_cast<double>(kRanks * kBytes) / 1e9, cost.wall, cost.cpu, bench::status_mib("RssAnon:") - before);
}

void python(const char* what, const fs::path& path, const fs::path& build) {
  const auto cpp = bench::measure([&] {
    const auto dataset = bench::must(open_dataset(path, make_work(), {}));
    read_rows(*bench::must(open_table(*dataset, "total", TableBounds{})));
  });
  const std::string script =
      "import fathom, time\n"
      "best = [1e9, 1e9]\n"
      "for _ in range(3):\n"
      "    wall, cpu = time.perf_counter(), time.process_time()\n"
      "    table = fathom.open('" +
      path.string() +
      "').table('total')\n"
      "    sums = table['exclusive'].sum() + table['inclusive'].sum()\n"
      "    best = [min(best[0], time.perf_counter() - wall), min(best[1], time.process_time() - cpu)]\n"
      "print(*best)\n";
  const fs::path file = path.parent_path() / "totals.py";
  bench::must(write_file(file, script));
  const std::string command = fmt::format("PYTHONPATH={}/python FATHOM_LIBRARY={}/libfathom.so /usr/bin/python3 {}",
                                          build.parent_path().string(), build.string(), file.string());
  double wall = 0, cpu = 0;
  std::FILE* pipe = popen(command.c_str(), "r");
  const bool good = pipe != nullptr && std::fscanf(pipe, "%lf %lf", &wall, &cpu) == 2;
  if (pipe != nullptr) pclose(pipe);
  if (!good) return;
  fmt::print("{}, open and totals per context: C++ {:.0f} ms, Python {:.0f} ms: {:.2f} times (CPU: {:.2f} times)\n",
             what, cpp.wall * 1e3, wall * 1e3, wall / cpp.wall, cpu / cpp.cpu);
}

}  // namespace

int main() {
  const fs::path folder = fs::temp_directory_path() / fmt::format("fathom-sql-bench-{}", getpid());
  fs::create_directories(folder);
  first_row(folder);
  const fs::path cube = folder / "made.cubex";
  const auto made = std::make_shared<Profile>(bench::make_profile({.contexts = 1250, .locations = 1366}));
  bench::must(bench::must(find_format("cube"))->write(*make_profile_dataset(made), cube, {}));
  group_by(cube);
  // bench/ stands in the build folder, and that in the sources.
  const fs::path build = fs::read_symlink("/proc/self/exe").parent_path().parent_path();
  python("Cube, 5.1 M values", cube, build);
  // As large as the one that was given to other libraries: 256 profiles, 5.95 million values.
  const fs::path database = folder / "made.hpcdb";
  const auto sparse = std::make_shared<Profile>(bench::make_profile({.contexts = 7750, .locations = 256}));
  bench::must(bench::must(find_format("hpctoolkit"))->write(*make_profile_dataset(sparse), database, {}));
  python("HPCToolkit, 5.95 M values", database, build);
  fs::remove_all(folder);
  return 0;
}
