// Any bytes as the metafile of a DUMPI run, and as options that cut time and choose calls.
#include <cstddef>
#include <cstdint>

#include "formats/dumpi/call_selection.hpp"
#include "formats/dumpi/filter.hpp"
#include "formats/dumpi/rank_set.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom;
  const Work work = make_work(false, std::uint64_t{64} << 20);
  const std::string text(reinterpret_cast<const char*>(data), size);
  (void)dumpi::metafile_keys(text);
  (void)dumpi::read_metafile(Blob::own("input", text), work);
  (void)dumpi::parse_rank_name(text);
  WriteOptions options;
  for (const char* key : {"functions", "without", "from", "to", "ranks", "drop"}) {
    options.options = {{key, text}};
    (void)dumpi::Filter::from_options(options);
  }
  return 0;
}
