// Any file of any format, written as every format that can hold it: what was written without an error can be read
// again.
#include <cstdio>
#include <cstdlib>

#include "ask_everything.hpp"
#include "scratch.hpp"

using namespace fathom;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Work work = fuzz_work();
  auto opened =
      open_source(Source::of(Blob::own("input", std::string(reinterpret_cast<const char*>(data), size))), work);
  if (!opened.ok()) return 0;
  const Scratch scratch;
  const auto levels = (*opened)->levels();
  for (const Format* format : all_formats()) {
    if (!writes_one_of(*format, levels)) continue;
    const auto target =
        scratch.path() / (std::string(format->name) + std::string(format->name == "dumpi" ? ".bin" : ""));
    if (!format->write(**opened, target, {}).ok()) continue;
    if (format->open == nullptr) continue;
    const auto again = open_dataset(target, fuzz_work(), format->name);
    if (!again.ok()) {
      std::fprintf(stderr, "written as %s: %s\n", std::string(format->name).c_str(), again.error().text().c_str());
      __builtin_trap();
    }
  }
  return 0;
}
