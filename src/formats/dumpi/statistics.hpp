// Numbers over calls: per function, rank, time bin, message size; who sends how much to whom.
#pragma once

#include <map>

#include "formats/dumpi/resolve.hpp"
#include "trace/statistics.hpp"

namespace fathom::dumpi {

struct Sums {
  std::uint64_t count = 0;
  std::int64_t wall_ns = 0;
  std::int64_t cpu_ns = 0;
  std::int64_t sent = 0;
  std::int64_t received = 0;
  std::int64_t io = 0;
  void add(const Sums& other);
};

inline constexpr std::size_t kSizeClasses = 64;  // class n: sizes of n bits, so 0, 1, 2-3, 4-7, ...

// Of one rank.
struct RankNumbers {
  std::array<Sums, kIds> functions{};
  std::map<std::int32_t, std::pair<std::uint64_t, std::int64_t>> sends;  // by receiving rank: messages, bytes
  std::array<std::uint64_t, kSizeClasses> send_sizes{};
  std::array<std::uint64_t, kSizeClasses> recv_sizes{};
  std::vector<Sums> bins;
  // Of the calls that were asked for: times outside of them, and where they begin and end.
  bool any_wall = false, any_cpu = false;
  std::int64_t first_wall_ns = 0, last_wall_ns = 0, wall_outside_ns = 0;
  std::int64_t first_cpu_ns = 0, last_cpu_ns = 0, cpu_outside_ns = 0;
  std::vector<std::int64_t> counters_inside, counters_outside, first_counters, last_counters;
  // Calls that come after these in the stream.
  void append(const RankNumbers& later);
};

// Which calls are counted: "all", "mpi", "sends", "recvs", "coll", "wait", "io", "non-mpi" or a regular expression on
// the whole name, in any case.
Result<std::array<bool, kIds>> select_calls(std::string_view text);

// Equal bins of time, or the intervals between annotations.
struct Bins {
  std::vector<std::int64_t> edges_ns;  // bin n is [edges[n], edges[n+1])
  [[nodiscard]] std::size_t size() const { return edges_ns.empty() ? 0 : edges_ns.size() - 1; }
};

Result<TraceStatistics> statistics(const RankSet& set, const StatisticsOptions& options);

}  // namespace fathom::dumpi
