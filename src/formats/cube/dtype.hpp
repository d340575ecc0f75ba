// Names of data types in anchor.xml.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "defs/value_type.hpp"
#include "io/blob.hpp"

namespace fathom::cube {

// "UINT64", "SIGNED INT", "NDOUBLES ( 10 )"; nothing when it is none of Cube's.
std::optional<ValueType> parse_dtype(std::string_view text);
// The name that every reader of the family knows.
std::string dtype_name(ValueType type);

// Reverses the byte order of every number in `count` packed values. `at` is changed in place; `from_native` says which
// side of the conversion can be read, which matters where counts inside a value say what follows.
void swap_values(ValueType type, std::byte* at, std::size_t count, bool from_native);

}  // namespace fathom::cube
