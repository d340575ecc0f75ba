// Repairs the order of events inside the regions OU[ … OU], where late ones (from the kernel) are put.
#pragma once

#include <functional>

#include "formats/ovni/native_trace.hpp"

namespace fathom::ovni {

inline constexpr std::size_t kSortWindow = 1'000'000;

struct SortResult {
  bool changed = false;
  std::uint64_t regions = 0;
  std::uint64_t empty_regions = 0;
};

// Gets the sorted file piece by piece, and nothing where nothing moves: what is kept are the events of the window.
using SortedBytes = std::function<Result<void>(Bytes)>;

// At most `window` - 1 events before the end of a region are looked back at; too few for a region is an error.
Result<SortResult> sort_stream(const Stream& stream, std::size_t window, const SortedBytes& sink, const Work& work);

// The first place where a clock decreases, or nothing. A stream without events counts as unsorted, as does one that
// is cut off: nothing can be said about it.
std::optional<Error> find_disorder(const Stream& stream);

}  // namespace fathom::ovni
