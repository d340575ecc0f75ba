// Values of files that were written on machines of the other byte order.
#pragma once

#include <cstddef>

#include "defs/value_type.hpp"

namespace fathom::cube {

// Reverses the byte order of every number in `count` packed values. `at` is changed in place; `from_native` says which
// side of the conversion can be read, which matters where counts inside a value say what follows.
void swap_values(ValueType type, std::byte* at, std::size_t count, bool from_native);

}  // namespace fathom::cube
