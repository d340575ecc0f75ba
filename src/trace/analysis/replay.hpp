// The run once more, on another machine: what waits for what stays as recorded, times come from a model.
#pragma once

#include <optional>

#include "trace/analysis/instances.hpp"
#include "trace/analysis/waits.hpp"

namespace fathom::analysis {

struct ReplayModel {
  enum class Network : std::uint8_t {
    ideal,     // calls take no time but for what they must wait for
    recorded,  // calls take what they took beside waiting
    given,     // latency and bandwidth
  };
  Network network = Network::ideal;
  double latency_ns = 0;
  double bytes_per_ns = 0;            // 0 = no limit
  std::vector<double> compute_scale;  // by location; empty = as recorded
};

struct ReplayResult {
  std::int64_t runtime = 0;
  std::vector<double> useful;  // computation of each location, ns
};

// Nothing = not possible: ranks are missing, streams are cut, or calls wait for each other in a circle.
Result<std::optional<ReplayResult>> replay(const RunCalls& run, const RunWaits& waits,
                                           const std::vector<GroupInstances>& instances, const ReplayModel& model);

}  // namespace fathom::analysis
