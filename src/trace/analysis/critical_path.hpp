// The chain of activities that decides how long a run takes: shortening anything else changes nothing.
#pragma once

#include "trace/analysis/intervals.hpp"

namespace fathom::analysis {

struct CriticalPath {
  // By location and activity, ns.
  std::vector<std::array<std::int64_t, kActivities>> locations;
  std::int64_t length = 0;
  // Activities on the path, the latest first; merged where they follow each other on a location.
  struct Piece {
    std::int64_t from = 0;
    std::int64_t to = 0;
    std::uint32_t location = 0;
    Activity activity = Activity::compute;
  };
  std::vector<Piece> pieces;  // at most kMostPieces; the rest is in the sums only
  static constexpr std::size_t kMostPieces = 1U << 20;
  // All of them, the latest first: time in a call, or between it and the one before.
  struct Step {
    std::int64_t length = 0;
    std::uint32_t location = 0;
    std::uint32_t call = 0;  // before the first call: that one
    bool inside = false;
  };
  LargeArray<Step> steps;
};

CriticalPath find_critical_path(const RunCalls& run, const RunWaits& waits);

}  // namespace fathom::analysis
