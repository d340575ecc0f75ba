// Who is to blame: every second of waiting is traced back to the one whose work caused it.
#pragma once

#include "trace/analysis/path_shares.hpp"

namespace fathom::analysis {

// Delays of one location, by activity: what they cost others at once, and what those passed on.
struct DelayCosts {
  std::array<double, kActivities> short_ns{};
  std::array<double, kActivities> long_ns{};
  // Those of computation by call path, in the order of paths; empty where no regions are known.
  struct OfPath {
    std::uint32_t path = 0;  // RunCalls::paths
    double short_ns = 0;
    double long_ns = 0;
  };
  std::vector<OfPath> paths;
};

// A wait state of the run.
struct WaitPlace {
  std::int64_t end = 0;  // of the waiting
  std::uint32_t location = 0;
  std::uint32_t wait = 0;
};

struct Delays {
  std::vector<DelayCosts> locations;
  LargeArray<WaitPlace> order;  // all wait states, the last one first
  double waited_point_to_point = 0;
  double passed_point_to_point = 0;  // what culprits of those had waited themselves
};

// Sets the shares and costs of all wait states.
Result<Delays> find_delays(const RunCalls& run, RunWaits& waits, const Intervals& intervals);

}  // namespace fathom::analysis
