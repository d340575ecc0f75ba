// Archives that are bombs.
#pragma once

#include <cstdint>

#include "base/work.hpp"

namespace fathom {

// Refuses what grows out of all proportion when it is unpacked, unless the user said how much memory there is.
Result<void> check_growth(std::uint64_t packed, std::uint64_t unpacked, const Place& place, const Work& work);

// What is said of data that go on beyond a limit.
Error too_large(std::uint64_t limit, const Place& place);

}  // namespace fathom
