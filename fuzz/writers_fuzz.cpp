// A dataset of any format, written as another one: the first byte chooses which, the others are the file that is read.
// What was written without an error can be read again.
#include <cstdio>
#include <cstdlib>

#include "ask_everything.hpp"
#include "scratch.hpp"

using namespace fathom;

namespace {

const Format& writer(std::uint8_t choice) {
  static const std::vector<const Format*> kWriters = [] {
    std::vector<const Format*> out;
    for (const Format* format : all_formats()) {
      if (format->write != nullptr) out.push_back(format);
    }
    return out;
  }();
  return *kWriters[choice % kWriters.size()];
}

// As `convert` does: native records where the format stays, else through the level.
bool write(Dataset& dataset, const Format& format, const std::filesystem::path& target) {
  if (&format == &dataset.format()) {
    const auto done = dataset.rewrite(target, {});
    if (!done.ok() || *done) return done.ok();
  }
  return format.write(dataset, target, {}).ok();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const Format& format = writer(data[0]);
  Blob blob = Blob::own("input", std::string(reinterpret_cast<const char*>(data) + 1, size - 1));
  auto opened = open_source(Source::of(std::move(blob)), fuzz_work());
  if (!opened.ok()) return 0;
  const auto levels = (*opened)->offered_levels();
  if (!writes_one_of(format, levels)) return 0;
  Scratch scratch;
  const auto target = scratch.path() / (std::string(format.name) + std::string(format.name == "dumpi" ? ".bin" : ""));
  if (!write(**opened, format, target) || format.open == nullptr) return 0;
  const auto again = open_dataset(target, fuzz_work(), format.name);
  if (!again.ok()) {
    std::fprintf(stderr, "written as %s: %s\n", std::string(format.name).c_str(), again.error().text().c_str());
    __builtin_trap();
  }
  return 0;
}
