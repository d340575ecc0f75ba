// Any bytes as a dataset of one format, opened through the registry, then everything that a command would ask of it.
// FATHOM_FUZZ_TARGET names the target, =list prints those that the formats of this program have: each format of one
// file is a target of its name. Datasets of several files are changed file by file: directories as they are, members of
// archives packed again so that checksums and indexes are sound, rows of Cube inside of them, too. Databases of SQLite
// are changed by SQL, MessagePack item by item.
#include <array>
#include <cstdio>
#include <cstdlib>

#include "ask_everything.hpp"
#include "bundle.hpp"
#include "mutate_msgpack.hpp"
#include "mutate_sqlite.hpp"
#include "pack.hpp"
#include "scratch.hpp"

using namespace fathom;

namespace {

enum class Packing : std::uint8_t { none, directory, tar, zip };
struct Target {
  std::string_view name;
  std::string_view format;
  Packing packing = Packing::none;
};
// Formats of several files, and what holds them. The last two need all formats.
constexpr std::array<Target, 10> kBundles = {{{"hpctoolkit", "hpctoolkit", Packing::directory},
                                              {"hpctoolkit-xml", "hpctoolkit-xml", Packing::directory},
                                              {"hpctoolkit-classic", "hpctoolkit-classic", Packing::directory},
                                              {"ovni", "ovni", Packing::directory},
                                              {"otf2-archive", "otf2", Packing::directory},
                                              {"dumpi-set", "dumpi", Packing::directory},
                                              {"cube-members", "cube", Packing::tar},
                                              {"extra-p-members", "extra-p", Packing::zip},
                                              {"runs", "runs", Packing::directory},
                                              {"any-directory", "", Packing::directory}}};
Target g_target;

bool is_directory(std::string_view format) {
  return format.starts_with("hpctoolkit") || format == "ovni" || format == "otf2" || format == "runs";
}

std::vector<Target> targets() {
  std::vector<Target> out;
  for (const Format* format : all_formats()) {
    if (format->open != nullptr && !is_directory(format->name)) out.push_back({format->name, format->name});
  }
  for (const Target& bundle : kBundles) {
    if (bundle.format.empty() || bundle.format == "runs" ? all_formats().size() > 1 : find_format(bundle.format).ok()) {
      out.push_back(bundle);
    }
  }
  return out;
}

// What the files are a dataset of: an archive in memory, or a directory.
Result<Source> source_of(const std::vector<BundledFile>& files, const Work& work) {
  if (g_target.packing == Packing::tar) return Source::of(Blob::own("input.tar", tar_of(files)));
  if (g_target.packing == Packing::zip) return Source::of(Blob::own("input.zip", zip_of(files)));
  static Scratch scratch;
  std::map<std::string, std::string_view> named;
  for (const BundledFile& file : files) named["input/" + file.name] = file.bytes;
  scratch.hold(named);
  return Source::at(scratch.path() / "input", work);
}

Result<Source> source_of(std::string_view input, const Work& work) {
  if (g_target.packing == Packing::none) return Source::of(Blob::own("input", std::string(input)));
  return source_of(unbundle(input), work);
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* const given = std::getenv("FATHOM_FUZZ_TARGET");
  const std::string_view name = given == nullptr ? "" : given;
  for (const Target& target : targets()) {
    if (name == "list") std::puts(std::string(target.name).c_str());
    if (name == target.name) g_target = target;
  }
  if (name == "list") std::exit(0);
  if (g_target.name.empty()) {
    std::fprintf(stderr, "FATHOM_FUZZ_TARGET: no target of that name\n");
    std::exit(2);
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  if (g_target.packing != Packing::none) return mutate_bundle(data, size, most, seed);
  // What is built of items that tell their lengths is changed item by item, too; SQL takes its time.
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  std::optional<std::string> changed;
  if (seed % 8 == 0 && g_target.name == "nsight") changed = ChangedDatabase::of(input, seed / 8);
  if (seed % 4 != 0 && g_target.name == "extra-prof") changed = ChangedItems::of(input, seed / 4);
  if (!changed || changed->empty() || changed->size() > most) return LLVMFuzzerMutate(data, size, most);
  std::memcpy(data, changed->data(), changed->size());
  return changed->size();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Work work = fuzz_work();
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto source = source_of(input, work);
  if (!source.ok()) return 0;
  auto opened = open_source(*source, work, g_target.format);
  if (!opened.ok()) {
    if (opened.error().place().file.empty()) __builtin_trap();  // every error names its place
    return 0;
  }
  ask_everything(**opened, input);
  return 0;
}
