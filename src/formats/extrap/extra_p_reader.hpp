// The .extra-p archive.
#pragma once

#include <string>

#include "formats/format.hpp"
#include "model/model.hpp"

namespace fathom::extrap {

struct StoredExperiment {
  ExperimentPtr experiment;
  ModelSets models;
  std::string version;
};

Result<StoredExperiment> read_extra_p(const Blob& archive, const Work& work);

}  // namespace fathom::extrap
