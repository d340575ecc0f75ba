// Names of data types as Cube and its language spell them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "defs/value_type.hpp"

namespace fathom::cubepl {

// "UINT64", "SIGNED INT", "NDOUBLES ( 10 )"; nothing when it is none of Cube's.
std::optional<ValueType> parse_dtype(std::string_view text);
// The name that every reader of the family knows.
std::string dtype_name(ValueType type);

}  // namespace fathom::cubepl
