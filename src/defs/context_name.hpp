// Names of contexts for reading.
#pragma once

#include <string>

#include "defs/definitions.hpp"

namespace fathom {

// The region's name and the parameters that this call path was called with: "solve (size=10)".
std::string context_name(const Definitions& defs, ContextId id);

}  // namespace fathom
