// Any bytes as the text dump of a DUMPI trace; what is understood must be a sound file that dumps to a readable text
// again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "formats/dumpi/dump.hpp"
#include "formats/dumpi/text_reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom;
  const Work work = make_work(false, std::uint64_t{256} << 20);
  const Blob text = Blob::own("input", std::string(reinterpret_cast<const char*>(data), size));
  (void)dumpi::looks_like_text_dump(text.text());
  auto binary = dumpi::binary_of_text(text, work);
  if (!binary) return 0;
  auto file = dumpi::File::open(*binary, work);
  if (!file) std::abort();
  auto scan = dumpi::scan(*file, work);
  if (!scan) return 0;
  if (scan->damage) std::abort();
  std::string again;
  (void)dumpi::dump(*file, *scan, {}, [&](std::string_view part) {
    again += part;
    return again.size() < (std::size_t{16} << 20);
  });
  (void)dumpi::binary_of_text(Blob::own("again", again), work);
  return 0;
}
