// The Extra-P text format.
#pragma once

#include "experiment/experiment.hpp"
#include "formats/format.hpp"
#include "io/blob.hpp"

namespace fathom::extrap {

Result<ExperimentPtr> read_text(const Blob& blob, const Work& work);
Match recognise_text(std::string_view head);

}  // namespace fathom::extrap
