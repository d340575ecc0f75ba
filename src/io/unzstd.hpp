// zstd data, with a bound on what comes out.
#pragma once

#include <functional>
#include <optional>

#include "base/work.hpp"
#include "io/blob.hpp"

namespace fathom {

bool is_zstd(Bytes bytes);

// Unpacks all frames piece by piece up to the end, or to where the data are damaged or cut off: then that is the
// value. Errors are the limit's and the sink's.
Result<std::optional<Error>> unzstd_pieces(const Blob& packed, std::uint64_t limit,
                                           const std::function<Result<void>(Bytes)>& sink);

}  // namespace fathom
