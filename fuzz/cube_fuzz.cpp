// Any bytes as a Cube archive: open, read every value in every flavour, dump, check.
#include <cstddef>
#include <cstdint>
#include <string>

#include "formats/registry.hpp"
#include "profile/compute.hpp"

using namespace fathom;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Work work = make_work(false, std::uint64_t{256} << 20);
  Blob blob = Blob::own("fuzz.cubex", std::string(reinterpret_cast<const char*>(data), size));
  auto dataset = open_source(Source::of(std::move(blob)), work, "cube");
  if (!dataset.ok()) {
    if (dataset.error().place().file.empty()) __builtin_trap();  // every error names its place
    return 0;
  }
  auto profile = (*dataset)->profile();
  if (!profile.ok()) return 0;
  const Definitions& defs = (*profile)->defs();
  // Tables in proportion to contexts × locations are the caller's wish, not the file's; keep them small here.
  if (defs.contexts.size() * defs.system.location_count() > 100000 || defs.metrics.size() > 200) return 0;
  for (std::size_t m = 0; m < defs.metrics.size(); ++m) {
    for (const auto kind : {Flavour::Kind::stored, Flavour::Kind::inclusive, Flavour::Kind::exclusive}) {
      Selection selection;
      selection.flavour.kind = kind;
      selection.locations = all_locations(defs);
      selection.void_values = true;
      (void)compute(**profile, MetricId(m), selection);
    }
  }
  (void)(*dataset)->check();
  (void)(*dataset)->dump({}, [](std::string_view) { return true; });
  return 0;
}
