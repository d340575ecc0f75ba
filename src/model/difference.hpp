// What changed between two sets of models: one minus the other, call path by call path.
#pragma once

#include "base/work.hpp"
#include "model/model.hpp"

namespace fathom {

struct ModelDifference {
  ExperimentPtr experiment;  // values of `a` less those of `b` at the points that both have
  ModelSet set;              // functions of `a` less those of `b`
  struct Pair {              // one per model of the set
    const Model* a = nullptr;
    const Model* b = nullptr;
  };
  std::vector<Pair> pairs;
  std::size_t only_a = 0;  // models without a counterpart
  std::size_t only_b = 0;
  std::size_t piecewise = 0;  // pairs left out: pieces cannot be subtracted
};

// Both must have the same parameters in the same order; the sets must outlive the result.
Result<ModelDifference> difference(const Experiment& a, const ModelSet& a_set, const Experiment& b,
                                   const ModelSet& b_set, const Work& work);

}  // namespace fathom
