// Questions about an experiment: its measurements, the models fitted to them, how they rank at a target.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "experiment/experiment.hpp"
#include "model/model.hpp"
#include "model/options.hpp"
#include "serve/request.hpp"

namespace fathom::serve {

inline constexpr std::size_t kMostModels = 2000;   // listed
inline constexpr std::size_t kModelsOfAPart = 50;  // the page's report_source.ts has the same

// MT: externally synchronised.
class ModelAnswers {
 public:
  ModelAnswers(ExperimentPtr experiment, Work work) : experiment_(std::move(experiment)), work_(std::move(work)) {}

  // at=p=1024,n=64 (default: far beyond the largest), expect (growth that is acceptable), modeler, measure: models,
  // worst first, with their measurements.
  Result<Answer> models(const Request& request);
  // budget, process (a parameter), metric: what to measure next, as `advise` has it.
  Result<Answer> advice(const Request& request);
  // series=3,7: every single value that was measured, by series and point; none where only statistics are known.
  // part=2 instead: of the models from 2 * kModelsOfAPart on, as models() lists them when nothing else is asked.
  Result<Answer> repetitions(const Request& request);

 private:
  struct Fitted {
    FitOptions options;
    ModelSet set;
  };
  Result<const Fitted*> fitted(const Request& request);
  Result<std::vector<std::size_t>> series_of(const Request& request);

  ExperimentPtr experiment_;
  Work work_;
  std::map<std::string, Fitted> fitted_;  // by how they were made
};

}  // namespace fathom::serve
