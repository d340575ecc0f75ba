// Composite values in their packed form: combine, take apart, show.
#pragma once

#include <string>
#include <vector>

#include "defs/value_type.hpp"
#include "io/blob.hpp"

namespace fathom::composite {

// target = target + other, target = target - other; both of `type`.
void plus(ValueType type, std::byte* target, const std::byte* other);
void minus(ValueType type, std::byte* target, const std::byte* other);
// target = target * factor, for means; counts and bounds stay.
void scale(ValueType type, std::byte* target, double factor);
double scalar(ValueType type, const std::byte* value);
// An atomic value of no events at all: it takes no part in combining.
void put_absent_atomic(std::byte* value);
bool atomic_is_absent(const std::byte* value);
// Components in file order.
std::vector<std::string> components(ValueType type, const std::byte* value);

}  // namespace fathom::composite
