// Packed files of any size: gzip, zstd.
#pragma once

#include "base/work.hpp"
#include "io/blob.hpp"

namespace fathom {

// What a packed file holds: in memory where it takes at most a quarter of the budget, else in a temporary file without
// a name, mapped. Of a damaged or cut-off file it gives what comes before the damage, and says so.
Result<Blob> unpack(const Blob& packed, const Work& work);

}  // namespace fathom
