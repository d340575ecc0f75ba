// How many ranks a run can have had.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace fathom::dumpi {

// Ranks that no file stands for cost memory and time. A run of millions with a handful of files left is not seen; a
// slip of the pen in a metafile or a name is.
inline bool plausible_world(std::uint64_t ranks, std::size_t files) {
  constexpr std::uint64_t kRanksPerFile = 64;
  constexpr std::uint64_t kFewRanks = std::uint64_t{1} << 20;
  return ranks <= std::max(kFewRanks, files * kRanksPerFile);
}

}  // namespace fathom::dumpi
