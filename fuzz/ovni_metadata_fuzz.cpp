// Any bytes as metadata of a stream or process, and as a table of clock offsets.
#include "formats/ovni/clock_offsets.hpp"
#include "formats/ovni/system.hpp"

using namespace fathom;
using namespace fathom::ovni;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Blob blob = Blob::own("input", std::string(reinterpret_cast<const char*>(data), size));
  auto stream = read_stream_metadata(blob);
  auto process = read_process_metadata(blob);
  if (process.ok()) {
    (void)add_thread_metadata(*process, blob);
    (void)to_process_json(*process);
    (void)to_thread_json(*process);
  }
  (void)read_offsets(blob);
  (void)offsets_from_samples(blob);
  if (!stream.ok()) return 0;
  (void)to_stream_json(*stream);
  NativeTrace trace;
  trace.streams.resize(2);
  trace.streams[0].metadata = trace.streams[1].metadata = *stream;
  std::vector<Error> defects;
  (void)build_system(trace, false, defects, make_work());
  return 0;
}
