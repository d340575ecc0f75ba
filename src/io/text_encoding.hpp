// Text in UTF-16 with a byte order mark, as some programs on Windows write it.
#pragma once

#include "base/work.hpp"
#include "io/blob.hpp"

namespace fathom {

bool is_utf16(Bytes bytes);
// The same text in UTF-8, counted against the budget; what is UTF-8 already comes back as it is. Halves of surrogate
// pairs become U+FFFD.
Result<Blob> as_utf8(const Blob& blob, const Work& work);

}  // namespace fathom
