// Commands that read whole Cube profiles and write something of their size, from their start to their end: merge, mean,
// diff -o, table --csv. Against a plain pass that reads the inputs and writes as many bytes of them as the result has.
// Twice the contexts are to take twice the time and no more memory of their own (mapped pages of the inputs count too).
//   profile_command_bench [program = ./fathom] [directory for the files] [contexts = 1250]
#include <fmt/format.h>

#include "formats/cube/from_profile.hpp"
#include "io/file.hpp"
#include "made_profile.hpp"
#include "run_program.hpp"

namespace {

using namespace fathom;
namespace fs = std::filesystem;

constexpr int kRounds = 3;
volatile unsigned g_seen = 0;

// CPU seconds to read all of the inputs and to write `size` bytes of them.
double plain_pass(const std::vector<std::string>& inputs, const fs::path& out, std::size_t size) {
  const auto pass = [&] {
    FILE* file = std::fopen(out.c_str(), "wb");
    std::size_t left = size;
    for (const std::string& input : inputs) {
      const Blob blob = bench::must(map_file(input));
      for (std::size_t i = 0; i < blob.size(); i += 64) g_seen = g_seen + std::to_integer<unsigned>(blob.bytes()[i]);
      left -= std::fwrite(blob.bytes().data(), 1, std::min(left, blob.size()), file);
    }
    std::fclose(file);
  };
  return bench::measure(pass, kRounds).cpu;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string program = argc > 1 ? argv[1] : "./fathom";
  const fs::path folder = argc > 2 ? fs::path(argv[2]) : fs::temp_directory_path();
  const auto contexts = static_cast<std::uint32_t>(argc > 3 ? std::atoi(argv[3]) : 1250);
  const auto file = [&](const char* name) { return (folder / fmt::format("{}_{}", getpid(), name)).string(); };
  const std::string a = file("a.cubex");
  const std::string b = file("b.cubex");
  const std::string out = file("out.cubex");
  fmt::print("{:>8} {:<28} {:>8} {:>8} {:>9} {:>16}\n", "MB each", "command", "wall s", "cpu s", "peak MiB",
             "x a plain pass");
  for (const std::uint32_t factor : {1U, 2U}) {
    for (const std::string& path : {a, b}) {
      bench::must(cube::write_profile(bench::make_profile({contexts * factor, 4096}), path, {false, false}));
    }
    const std::size_t size = fs::file_size(a);
    const auto show = [&](std::string_view name, const std::vector<std::string>& arguments, double plain) {
      const auto cost = bench::best_run(program, arguments, kRounds);
      fmt::print("{:>8} {:<28} {:>8.2f} {:>8.2f} {:>9.0f} {:>16.1f}\n", size / 1'000'000, name, cost.wall, cost.cpu,
                 cost.memory_mib, cost.cpu / plain);
    };
    const double both = plain_pass({a, b}, out, size);
    fs::remove(out);
    show("merge A B -o OUT", {"merge", a, b, "-o", out}, both);
    show("mean A B -o OUT", {"mean", a, b, "-o", out}, both);
    show("diff A B -o OUT", {"diff", a, b, "-o", out}, both);
    const double one = plain_pass({a}, out, 0);
    show("table A --csv", {"table", a, "--csv"}, one);
    show("table A --csv --no-path", {"table", a, "--csv", "--no-path"}, one);
  }
  for (const std::string& path : {a, b, out}) fs::remove(path);
  return 0;
}
