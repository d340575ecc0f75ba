// Loading a large Cube profile: 5,000 contexts × 4,096 locations × 3 metrics, plain and packed, against a plain pass
// over the same bytes. Usage: cube_bench [directory for the generated files] [contexts] [locations]
#include <libdeflate.h>
#include <zlib.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>

#include "base/parallel.hpp"
#include "formats/cube/from_profile.hpp"
#include "formats/registry.hpp"
#include "io/file.hpp"
#include "made_profile.hpp"
#include "measure.hpp"
#include "profile/compute.hpp"

using namespace fathom;
using namespace fathom::bench;

namespace {

volatile std::uint64_t g_sink;

std::uint64_t sum_words(Bytes bytes) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i + sizeof(std::uint64_t) <= bytes.size(); i += sizeof(std::uint64_t)) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data() + i, sizeof(word));
    sum += word;
  }
  return sum;
}

// A plain pass over the file's bytes, mapped for it as a reader maps them: the best that any reader could do, on one
// core and on all.
Cost memory_pass(const std::filesystem::path& path, bool parallel) {
  return measure([&] {
    const Blob blob = must(map_file(path));
    constexpr std::size_t kPiece = std::size_t{1} << 20;
    const std::size_t pieces = blob.size() / kPiece;
    std::vector<std::uint64_t> sums(pieces);
    const auto one = [&](std::size_t i) -> Result<void> {
      sums[i] = sum_words(blob.bytes().subspan(i * kPiece, kPiece));
      return {};
    };
    if (parallel) {
      (void)parallel_for(pieces, one);
    } else {
      for (std::size_t i = 0; i < pieces; ++i) (void)one(i);
    }
    std::uint64_t sum = 0;
    for (const std::uint64_t s : sums) sum += s;
    g_sink = sum;
  });
}

// Every stored value of every metric handed out and added up.
Cost load_all(const std::filesystem::path& path) {
  return measure([&] {
    const auto dataset = must(open_dataset(path, make_work()));
    const auto profile = must(dataset->profile());
    const auto& defs = profile->defs();
    for (std::size_t m = 0; m < defs.metrics.size(); ++m) {
      const StoredMetric metric{MetricId(m), 0};
      const std::size_t width = m == 0 ? sizeof(std::uint32_t) : sizeof(std::uint64_t);
      constexpr std::size_t kBlock = 64;
      std::vector<std::uint64_t> sums((defs.contexts.size() + kBlock - 1) / kBlock);
      auto status = parallel_blocks(defs.contexts.size(), kBlock, [&](std::size_t begin, std::size_t end) {
        const IndexRange contexts{static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
        return profile->values->scan({{&metric, 1}, contexts, all_locations(defs)},
                                     [&](const Run& run) -> Result<void> {
                                       sums[begin / kBlock] += sum_words({run.values, run.count * width});
                                       return {};
                                     });
      });
      if (!status.ok()) fail(status.error());
      for (const std::uint64_t s : sums) g_sink = g_sink + s;
    }
  });
}

// The reference programs' job: inclusive values of the root, one per location, for all metrics.
Cost roots_inclusive(const std::filesystem::path& path, std::size_t metrics) {
  return measure([&] {
    const auto dataset = must(open_dataset(path, make_work()));
    const auto profile = must(dataset->profile());
    Selection selection;
    selection.flavour.kind = Flavour::Kind::inclusive;
    selection.contexts = profile->defs().contexts.roots();
    selection.locations = all_locations(profile->defs());
    for (std::size_t m = 0; m < metrics; ++m) {
      const Cells cells = must(compute(*profile, MetricId(m), selection));
      g_sink = g_sink + static_cast<std::uint64_t>(cells.scalar(0, 0));
    }
  });
}

using Inflate = std::function<void(Bytes packed, std::vector<std::byte>& out)>;

// What unpacking the rows alone takes, on all cores, with an inflater made for each block of rows.
Cost inflate_alone(const std::filesystem::path& path, const std::function<Inflate()>& make_inflate) {
  return measure([&] {
    const auto work = make_work();
    const Blob blob = must(map_file(path));
    const TarArchive archive = must(TarArchive::read(blob, work));
    for (const TarMember& member : archive.members()) {
      if (!member.name.ends_with(".data")) continue;
      const std::byte* at = member.content.bytes().data() + 11;
      std::uint64_t count;
      std::memcpy(&count, at, sizeof(count));
      const std::byte* table = at + 8;
      const std::byte* base = table + count * 24;
      auto status = parallel_blocks(count, 64, [&](std::size_t begin, std::size_t end) -> Result<void> {
        const Inflate inflate = make_inflate();
        std::vector<std::byte> out(std::size_t{1} << 20);
        for (std::size_t i = begin; i < end; ++i) {
          std::uint64_t entry[3];
          std::memcpy(entry, table + i * 24, 24);
          inflate({base + entry[1], static_cast<std::size_t>(entry[2])}, out);
        }
        return {};
      });
      if (!status.ok()) fail(status.error());
    }
  });
}

Inflate libdeflate_inflate() {
  const std::shared_ptr<libdeflate_decompressor> decompressor(libdeflate_alloc_decompressor(),
                                                              libdeflate_free_decompressor);
  return [decompressor](Bytes packed, std::vector<std::byte>& out) {
    std::size_t produced = 0;
    libdeflate_zlib_decompress(decompressor.get(), packed.data(), packed.size(), out.data(), out.size(), &produced);
  };
}

// What the official library unpacks with.
Inflate zlib_inflate() {
  return [](Bytes packed, std::vector<std::byte>& out) {
    uLongf produced = out.size();
    uncompress(reinterpret_cast<Bytef*>(out.data()), &produced, reinterpret_cast<const Bytef*>(packed.data()),
               packed.size());
  };
}

void report(const char* what, Cost cost, Cost baseline, const char* against) {
  std::printf("  %-44s %7.3f s wall %7.3f s cpu  = %.2f x wall, %.2f x cpu of %s\n", what, cost.wall, cost.cpu,
              cost.wall / baseline.wall, cost.cpu / baseline.cpu, against);
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Arguments arguments(argc, argv);
  const auto plain = arguments.file("plain.cubex");
  const auto packed = arguments.file("packed.cubex");
  const Profile profile = bench::make_profile(arguments.size);
  // The official dump was measured on a file of the default size.
  const bool comparable = arguments.size == bench::Size{};
  for (const bool compress : {false, true}) {
    const auto start = std::chrono::steady_clock::now();
    const auto& target = compress ? packed : plain;
    if (auto status = cube::write_profile(profile, target, {compress, false}); !status.ok()) fail(status.error());
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf("%s: %.0f MB written in %.2f s\n", compress ? "packed" : "plain",
                static_cast<double>(std::filesystem::file_size(target)) / 1e6, seconds);
  }
  const Cost one = memory_pass(plain, false);
  const Cost all = memory_pass(plain, true);
  std::printf("plain pass over the bytes: %.3f s on one core; on all %.3f s, %.3f s cpu\n", one.wall, all.wall,
              all.cpu);
  std::printf("plain file:\n");
  report("all values", load_all(plain), all, "a pass on all cores");
  const Cost roots = roots_inclusive(plain, 3);
  report("roots of all metrics, inclusive", roots, all, "a pass on all cores");
  report("root of one metric, inclusive", roots_inclusive(plain, 1), all, "a pass on all cores");
  if (comparable) std::printf("  official dump needs 0.67 s cpu for the roots: %.1f x faster\n", 0.67 / roots.cpu);

  const Cost libdeflate = inflate_alone(packed, libdeflate_inflate);
  const Cost zlib = inflate_alone(packed, zlib_inflate);
  std::printf("packed file: libdeflate alone %.3f s wall, %.3f s cpu; zlib %.3f s cpu\n", libdeflate.wall,
              libdeflate.cpu, zlib.cpu);
  report("all values", load_all(packed), libdeflate, "libdeflate");
  const Cost packed_roots = roots_inclusive(packed, 3);
  report("roots of all metrics, inclusive", packed_roots, libdeflate, "libdeflate");
  // The official dump spends its time on the plain values plus zlib; the second part is measured here.
  if (comparable) {
    std::printf("  official dump needs 0.67 s cpu and zlib: %.1f x faster\n", (0.67 + zlib.cpu) / packed_roots.cpu);
  }
  std::printf("peak memory %.0f MiB, of it mapped files %.0f MiB, own %.0f MiB\n", status_mib("VmHWM:"),
              status_mib("RssFile:"), status_mib("RssAnon:"));
  std::error_code ignored;
  std::filesystem::remove(plain, ignored);
  std::filesystem::remove(packed, ignored);
  return 0;
}
