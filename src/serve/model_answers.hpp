// Questions about an experiment: its measurements, the models fitted to them, how they rank at a target.
#pragma once

#include <optional>

#include "experiment/experiment.hpp"
#include "model/model.hpp"
#include "serve/request.hpp"

namespace fathom::serve {

// MT: externally synchronised.
class ModelAnswers {
 public:
  ModelAnswers(ExperimentPtr experiment, Work work) : experiment_(std::move(experiment)), work_(std::move(work)) {}

  // at=p=1024,n=64 (default: far beyond the largest): models, worst first, with their measurements.
  Result<Answer> models(const Request& request);

 private:
  Result<void> fitted();

  ExperimentPtr experiment_;
  Work work_;
  std::optional<ModelSet> set_;
};

}  // namespace fathom::serve
