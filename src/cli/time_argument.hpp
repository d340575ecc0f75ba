// Moments on a trace's clock as commands take them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"

namespace fathom::cli {

// A number of ns, or a number with a unit: 12us, 3.5ms, 1.25s. Nothing given, nothing returned.
Result<std::optional<std::int64_t>> time_argument(const std::optional<std::string>& text);

}  // namespace fathom::cli
