// Units of time as formats spell them.
#pragma once

#include <string_view>

namespace fathom {

// Seconds in a unit (s, sec, usec, ms, ...); 0 when it is none of time.
double seconds_per(std::string_view unit);

}  // namespace fathom
