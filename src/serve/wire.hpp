// How values travel to the page.
#pragma once

#include "base/json.hpp"
#include "defs/metric.hpp"
#include "profile/value.hpp"

namespace fathom::serve {

// A browser's numbers are doubles: integers beyond 2^53 go as texts, composites as their scalar.
void write_wire(JsonWriter& json, const Value& value);

}  // namespace fathom::serve
