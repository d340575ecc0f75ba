// Cube 3 documents: opened, and all values added up.
#include <cstdint>
#include <string>

#include "formats/cube3/cube3_format.hpp"
#include "profile/compute.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom;
  const Work work = make_work(false, std::uint64_t{256} << 20);
  const auto dataset = cube3::format().open(
      Source::of(Blob::own("fuzz.cube", std::string(reinterpret_cast<const char*>(data), size))), work);
  if (!dataset.ok()) return 0;
  const auto profile = (*dataset)->profile();
  if (!profile.ok()) return 0;
  const Definitions& defs = (*profile)->defs();
  for (std::size_t i = 0; i < defs.metrics.size(); ++i) {
    (void)compute(**profile, MetricId(i), {{Flavour::Kind::inclusive, {}}, {}, all_locations(defs), true});
  }
  return 0;
}
