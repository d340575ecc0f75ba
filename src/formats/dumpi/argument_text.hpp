// Arguments of a call as key=value;key=value.
#pragma once

#include <string>

#include "fathom/dumpi.hpp"

namespace fathom::dumpi {

// Those taken after the call, or those taken before it.
void append_arguments(const Call& call, bool outputs, std::string& out);

}  // namespace fathom::dumpi
