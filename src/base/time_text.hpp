// Times as people write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace fathom {

// A number with an optional sign, fraction and unit (ns, us, ms, s), in nanoseconds; exact, digits below a nanosecond
// are cut. `unit_ns` is the unit of a number that has none. Nothing when the text is no such time or does not fit.
std::optional<std::int64_t> parse_time_ns(std::string_view text, std::int64_t unit_ns);

}  // namespace fathom
