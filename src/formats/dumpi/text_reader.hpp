// Reads a text dump back into the bytes of a .bin file.
#pragma once

#include "base/work.hpp"
#include "io/blob.hpp"

namespace fathom::dumpi {

bool looks_like_text_dump(std::string_view head);

// The text tells everything but the time bias, masks and raw lengths of empty lists: those are chosen as a tracer
// would. Dumping the result gives the same text again.
Result<Blob> binary_of_text(const Blob& text, const Work& work);

}  // namespace fathom::dumpi
