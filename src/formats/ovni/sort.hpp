// Repairs the order of events inside the regions OU[ … OU], where late ones (from the kernel) are put.
#pragma once

#include <functional>

#include "formats/ovni/native_trace.hpp"

namespace fathom::ovni {

inline constexpr std::size_t kSortWindow = 1'000'000;

// Bytes of a stream that become others of the same number.
struct Patch {
  std::uint64_t offset = 0;
  std::string bytes;
};

struct SortResult {
  std::vector<Patch> patches;  // what moved, ascending; the rest of the stream stays as it is
  std::uint64_t regions = 0;
  std::uint64_t empty_regions = 0;
};

// At most `window` - 2 events before the end of a region are looked back at; too few for a region is an error.
Result<SortResult> sort_stream(const Stream& stream, std::size_t window);

// The stream with its patches, piece by piece: nothing is copied that did not move.
void patched(const Stream& stream, const std::vector<Patch>& patches, const std::function<void(Bytes)>& sink);

// The first place where a clock decreases, or nothing. A stream without events counts as unsorted, as does one that
// is cut off: nothing can be said about it.
std::optional<Error> find_disorder(const Stream& stream);

}  // namespace fathom::ovni
