// Any bytes as a Paraver trace, as the names of its values, and as the names of its rows.
#include "formats/format.hpp"
#include "formats/paraver/paraver_format.hpp"
#include "formats/paraver/prv_file.hpp"
#include "trace/merge.hpp"

using namespace fathom;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Work work = make_work(false, std::uint64_t{64} << 20);
  const Blob blob = Blob::own("input.prv", std::string(reinterpret_cast<const char*>(data), size));
  (void)paraver::read_pcf(blob);
  (void)paraver::read_row(blob);
  auto dataset = paraver::format().open(Source::of(blob), work);
  if (!dataset.ok()) return 0;
  auto trace = (*dataset)->trace();
  if (!trace.ok()) return 0;
  auto merged = MergedEvents::over(**trace);
  if (!merged.ok()) return 0;
  std::string detail;
  while (const Event* event = merged->next()) {
    detail.clear();
    (void)(*trace)->detail(*event, detail);
  }
  (void)(*trace)->messages({}, [](const Message&) { return true; });
  return 0;
}
