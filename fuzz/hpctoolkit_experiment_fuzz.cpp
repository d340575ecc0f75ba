// Any bytes as experiment.xml, of either generation.
#include <cstdint>

#include "formats/hpctoolkit/experiment_xml.hpp"
#include "formats/hpctoolkit/mapping.hpp"

using namespace fathom;
using namespace fathom::hpctoolkit;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto work = make_work(false, std::uint64_t{256} << 20);
  const Blob blob("input", Bytes(reinterpret_cast<const std::byte*>(data), size), nullptr);
  (void)ExperimentXml::version_in(blob.text());
  if (const auto xml = ExperimentXml::read(blob, work)) (void)map_xml(*xml, work);
  return 0;
}
