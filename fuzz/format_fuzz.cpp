// Any bytes as a file of the format that FATHOM_FUZZ_FORMAT names: opened through the registry, then everything that a
// command would ask of it. FATHOM_FUZZ_FORMAT=list prints the names; formats that are directories are bundle_fuzz's.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "ask_everything.hpp"

using namespace fathom;

namespace {

std::string_view g_format;

// Of several files.
bool is_directory(std::string_view format) {
  return format.starts_with("hpctoolkit") || format == "ovni" || format == "otf2" || format == "runs";
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* name = std::getenv("FATHOM_FUZZ_FORMAT");
  g_format = name == nullptr ? "" : name;
  if (g_format == "list") {
    for (const Format* format : all_formats()) {
      if (format->open != nullptr && !is_directory(format->name)) std::puts(std::string(format->name).c_str());
    }
    std::exit(0);
  }
  if (const auto found = find_format(g_format); !found.ok()) {
    std::fprintf(stderr, "FATHOM_FUZZ_FORMAT: %s\n", found.error().text().c_str());
    std::exit(2);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Work work = fuzz_work();
  Blob blob = Blob::own("input", std::string(reinterpret_cast<const char*>(data), size));
  auto opened = open_source(Source::of(std::move(blob)), work, g_format);
  if (!opened.ok()) {
    if (opened.error().place().file.empty()) __builtin_trap();  // every error names its place
    return 0;
  }
  ask_everything(**opened);
  return 0;
}
