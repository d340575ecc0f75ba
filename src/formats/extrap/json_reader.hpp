// Extra-P JSON, both layouts.
#pragma once

#include "base/work.hpp"
#include "experiment/experiment.hpp"
#include "io/blob.hpp"

namespace fathom::extrap {

Result<ExperimentPtr> read_json(const Blob& blob, const Work& work);
// A single object that is one line of JSON Lines.
bool looks_like_json_line(std::string_view head);

}  // namespace fathom::extrap
