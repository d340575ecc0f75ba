// The measurements of Extra-P's JSON: {callpath:{metric:[{"point":[..],"values":[..]},..]}}
#pragma once

#include "experiment/builder.hpp"
#include "io/blob.hpp"

namespace fathom::extrap {

// `object` holds them and nothing else.
Result<void> read_measurements(const Blob& object, ExperimentBuilder& builder);

// The same by several threads. `rest` goes on to the end of the document, whose last brace is all that follows. An
// error says only that this was not so, or that something is wrong somewhere; the builder is of no use then.
Result<void> read_measurements_in_pieces(const Blob& rest, ExperimentBuilder& builder, const Work& work);

}  // namespace fathom::extrap
