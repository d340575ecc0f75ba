// Any bytes as a DUMPI file: sections, stream, dump, events, statistics; and as a text dump.
#include <cstddef>
#include <cstdint>

#include "formats/dumpi/check.hpp"
#include "formats/dumpi/dump.hpp"
#include "formats/dumpi/dumpi_trace.hpp"
#include "formats/dumpi/statistics.hpp"
#include "formats/dumpi/text_reader.hpp"
#include "trace/merge.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom;
  const Work work = make_work(false, std::uint64_t{256} << 20);
  const Blob blob = Blob::own("input", std::string(reinterpret_cast<const char*>(data), size));
  if (auto binary = dumpi::binary_of_text(blob, work)) (void)dumpi::File::open(*binary, work);
  auto file = dumpi::File::open(blob, work);
  if (!file) return 0;
  const auto set = dumpi::RankSet::of(*std::move(file), 0, work);
  auto scans = set->scans();
  if (!scans) return 0;
  (void)dumpi::dump(set->files()[0].file, (**scans)[0], {}, [](std::string_view) { return true; });
  (void)dumpi::statistics(*set, {});
  (void)dumpi::check_set(set);
  if (auto trace = dumpi::DumpiTrace::make(set)) {
    if (auto merged = MergedEvents::over(**trace)) {
      std::string detail;
      while (const Event* event = merged->next()) {
        detail.clear();
        (void)(*trace)->detail(*event, detail);
      }
    }
  }
  return 0;
}
