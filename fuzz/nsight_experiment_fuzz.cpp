// Any bytes as nsight: an error or an experiment that can be validated and dumped.
#include <string>

#include "formats/registry.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace fathom;
  const Work work = make_work(false, 256u << 20);
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  auto dataset = open_source(Source::of(Blob::own("input", bytes)), work, "nsight");
  if (!dataset) return 0;
  (void)(*dataset)->experiment();
  (void)(*dataset)->check();
  (void)(*dataset)->dump({}, [](std::string_view) { return true; });
  return 0;
}
