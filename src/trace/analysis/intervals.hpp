// What locations did between two of their calls, in constant time.
#pragma once

#include "trace/analysis/waits.hpp"

namespace fathom::analysis {

// Times of one location between two calls: activities without the waiting in them, and waiting by kind.
struct Spent {
  std::array<std::int64_t, kActivities> activity{};
  std::array<std::int64_t, kWaitKinds> waited{};
  std::uint32_t kinds = 0;  // a bit for each kind that may be in `waited`
};

// How the blame for a wait is shared: delays of the culprit by activity, and what its own waiting passed to it.
struct Blame {
  std::array<double, kActivities> direct{};
  double passed = 0;
  std::array<double, kWaitKinds> kinds{};  // shares of what is passed
};

// MT: safe (const).
class Intervals {
 public:
  Intervals(const RunCalls& run, const RunWaits& waits);

  // From the exit of the call before `begin` (the beginning of the run for 0), or from the entry of `begin`, to the
  // entry of `end`.
  [[nodiscard]] Spent between(std::uint32_t location, std::uint32_t begin, std::uint32_t end,
                              bool from_entry = false) const;
  // Time in calls on files, of all calls before `end`.
  [[nodiscard]] std::int64_t io_before(std::uint32_t location, std::uint32_t end) const;
  // Adds the time in regions of the program between two calls, by call path.
  void add_paths(std::uint32_t location, std::uint32_t begin, std::uint32_t end, PathAmounts& to) const;
  // The call path in which a location came to its first call: nothing is known of the time before it.
  [[nodiscard]] std::uint32_t first_path(std::uint32_t location) const { return run_.locations[location].first_path; }
  [[nodiscard]] Blame blame(std::uint32_t victim, const Wait& wait) const;
  // blame() will be asked for it soon: what culprits did lies far apart.
  void prefetch(const Wait& wait) const {
    const auto& calls = run_.locations[wait.culprit].calls;
    __builtin_prefetch(&calls[wait.culprit_begin]);
    __builtin_prefetch(&calls[wait.culprit_call]);
  }
  // Waiting before wait number `end` of a location, by kind.
  [[nodiscard]] std::array<std::int64_t, kWaitKinds> waited_before(std::uint32_t location, std::uint32_t end) const;

 private:
  static constexpr std::uint32_t kStep = 64;
  struct Sums {
    std::vector<std::array<std::int64_t, kWaitKinds>> waited;  // before every kStep-th wait
    std::vector<std::pair<std::uint32_t, std::int64_t>> io;    // calls on files, with the time up to their end
    std::vector<std::int64_t> paths;  // by call path, of all path times before every path_step_-th one
  };
  const RunCalls& run_;
  const RunWaits& waits_;
  std::vector<Sums> sums_;
  std::size_t path_step_;  // far enough apart to take less memory than the times themselves
};

}  // namespace fathom::analysis
