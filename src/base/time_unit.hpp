// Units of time as formats spell them.
#pragma once

#include <string_view>

namespace fathom {

// Seconds in a unit (s, sec, usec, ms, ...); 0 when it is none of time.
double seconds_per(std::string_view unit);

// Spelt alike, or the same unit of time in two spellings. Nothing is known of a unit that is not told: it counts as
// any.
bool same_unit(std::string_view a, std::string_view b);
// Whether both are units of time, and not the same one.
bool other_time_unit(std::string_view from, std::string_view to);
// A value in one unit of time as it is in another one.
double in_time_unit(double value, std::string_view from, std::string_view to);

}  // namespace fathom
