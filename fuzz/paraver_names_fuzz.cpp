// Any bytes as the names of the values, and as the names of the rows of a Paraver trace.
#include "formats/paraver/prv_file.hpp"

using namespace fathom;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Blob blob = Blob::own("input.pcf", std::string(reinterpret_cast<const char*>(data), size));
  (void)paraver::read_pcf(blob);
  (void)paraver::read_row(blob);
  return 0;
}
