// About how much there is to read of a location, for dealing out work.
#pragma once

#include "trace/trace.hpp"

namespace fathom {

inline std::uint64_t extent(const Trace& trace, LocationId location) {
  return trace.known_records(location).value_or(1);
}

}  // namespace fathom
