// Datasets of several files, with the files changed one by one: directories as they are, members of archives packed
// again so that checksums and indexes are sound. FATHOM_FUZZ_FORMAT names the target, =list prints them all.
#include <array>
#include <cstdio>
#include <cstdlib>

#include "ask_everything.hpp"
#include "bundle.hpp"
#include "io/output_file.hpp"
#include "io/tar.hpp"
#include "io/zip.hpp"
#include "scratch.hpp"

using namespace fathom;

namespace {

enum class Packing : std::uint8_t { directory, tar, zip };
struct Target {
  std::string_view name;
  std::string_view format;
  Packing packing;
};
constexpr std::array<Target, 10> kTargets = {{{"hpctoolkit", "hpctoolkit", Packing::directory},
                                              {"hpctoolkit-xml", "hpctoolkit-xml", Packing::directory},
                                              {"hpctoolkit-classic", "hpctoolkit-classic", Packing::directory},
                                              {"ovni", "ovni", Packing::directory},
                                              {"runs", "runs", Packing::directory},
                                              {"otf2-archive", "otf2", Packing::directory},
                                              {"dumpi-set", "dumpi", Packing::directory},
                                              {"any-directory", "", Packing::directory},
                                              {"cube-members", "cube", Packing::tar},
                                              {"extra-p-members", "extra-p", Packing::zip}}};
const Target* g_target = nullptr;

std::filesystem::path pack(const std::vector<BundledFile>& files, const Scratch& scratch) {
  const std::filesystem::path target = scratch.path() / "input";
  if (g_target->packing == Packing::tar) {
    auto out = OutputFile::create(target);
    if (!out) return {};
    TarWriter tar(*out, TarPadding::slack_block);
    for (const BundledFile& file : files) tar.add(file.name, as_bytes(file.bytes));
    tar.finish();
    (void)out->commit();
  } else if (g_target->packing == Packing::zip) {
    std::vector<ZipMember> members;
    for (const BundledFile& file : files) members.push_back({file.name, file.bytes, false});
    if (!write_zip(target, std::move(members))) return {};
  } else {
    for (const BundledFile& file : files) scratch.put("input/" + file.name, file.bytes);
  }
  return target;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* const given = std::getenv("FATHOM_FUZZ_FORMAT");
  const std::string_view name = given == nullptr ? "" : given;
  for (const Target& target : kTargets) {
    if (name == "list") std::puts(std::string(target.name).c_str());
    if (name == target.name) g_target = &target;
  }
  if (name == "list") std::exit(0);
  if (g_target == nullptr) {
    std::fprintf(stderr, "FATHOM_FUZZ_FORMAT: no target of that name\n");
    std::exit(2);
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  return mutate_bundle(data, size, most, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Scratch scratch;
  const auto files = unbundle({reinterpret_cast<const char*>(data), size});
  const auto path = pack(files, scratch);
  if (path.empty() || files.empty()) return 0;
  auto opened = open_dataset(path, fuzz_work(), g_target->format);
  if (!opened.ok()) {
    if (opened.error().place().file.empty()) __builtin_trap();  // every error names its place
    return 0;
  }
  ask_everything(**opened);
  return 0;
}
