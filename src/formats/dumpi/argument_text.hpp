// Arguments of a call as key=value;key=value.
#pragma once

#include "base/text_tail.hpp"
#include "fathom/dumpi.hpp"

namespace fathom::dumpi {

// Those taken after the call, or those taken before it.
void append_arguments(const Call& call, bool outputs, TextTail& out);

}  // namespace fathom::dumpi
