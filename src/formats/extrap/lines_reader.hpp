// TaLPas and JSON Lines: one measurement per line.
#pragma once

#include "experiment/experiment.hpp"
#include "formats/format.hpp"
#include "io/blob.hpp"

namespace fathom::extrap {

Result<ExperimentPtr> read_json_lines(const Blob& blob, const Work& work);
Result<ExperimentPtr> read_talpas(const Blob& blob, const Work& work);

}  // namespace fathom::extrap
