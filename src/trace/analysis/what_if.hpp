// How long a run would have taken: other compute times, another network, the same dependences.
#pragma once

#include "trace/analysis/analysis.hpp"

namespace fathom::analysis {

struct Change {
  ReplayModel::Network network = ReplayModel::Network::recorded;
  double latency_ns = 0;
  double bytes_per_ns = 0;
  std::vector<std::pair<std::int32_t, double>> compute;  // factor by rank; rank -1 = all others
  bool balance = false;                                  // everybody computes as much as the mean, before the factors
};

struct Prediction {
  double recorded_s = 0;
  double replayed_s = 0;  // the run as it was, by the same model: how far it is to be trusted
  double predicted_s = 0;
  Efficiencies before;
  Efficiencies after;  // without ideal times
};

// An error where a replay is not possible: ranks missing, streams cut, circular waiting.
Result<Prediction> what_if(const Analysis& analysis, const Change& change);

}  // namespace fathom::analysis
