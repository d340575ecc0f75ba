// Instead of trace_writer.cpp where the OTF2 library was not there at build time.
#ifndef FATHOM_HAS_OTF2

#include "formats/otf2/trace_writer.hpp"

namespace fathom::otf2 {

Result<void> write_trace(const Trace&, const std::filesystem::path&, const Work&) {
  return Error::usage("this Fathom was built without the OTF2 library and cannot write archives")
      .hint("install libopen-trace-format2-dev (or libotf2-dev) and build again");
}

}  // namespace fathom::otf2

#endif
