// Values that are not there.
#pragma once

#include "profile/value.hpp"

namespace fathom {

// Extremes: where nothing is stored there is no value, which takes no part in combining, and a stored zero is one. For
// all other types absent is zero. Tables begin with absent values.
inline bool absent_is_no_value(ValueType type) {
  return type.kind == ValueKind::min_f64 || type.kind == ValueKind::max_f64 || type.kind == ValueKind::atomic;
}
// One absent value in packed form.
void put_absent(ValueType type, std::byte* value);

// False for extremes of nothing: they have no text, and count as zero where a number is needed.
bool has_value(const Cells& cells, std::size_t row, std::size_t column);
bool has_value(const Value& value);

}  // namespace fathom
