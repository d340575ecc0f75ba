// Names of contexts with the parameters that they were called with.
#pragma once

#include <span>
#include <string>

#include "defs/definitions.hpp"

namespace fathom {

// As Definitions::context_name, less the parameters of these keys.
std::string context_name_without(const Definitions& defs, ContextId id, std::span<const std::string> keys);

}  // namespace fathom
