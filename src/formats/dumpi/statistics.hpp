// Numbers over calls: per function, rank, time bin, message size; who sends how much to whom.
#pragma once

#include <map>

#include "formats/dumpi/bins.hpp"
#include "formats/dumpi/call_selection.hpp"
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

// Something that runs on all the time, a clock or a counter: how far it came inside of calls and between them.
struct Gauge {
  bool any = false;
  std::int64_t first = 0, last = 0;
  std::int64_t inside = 0, outside = 0;
  // Time between two pieces that are collected is nobody's.
  const Interval* first_piece = nullptr;
  const Interval* last_piece = nullptr;

  void add(std::int64_t start, std::int64_t stop, const Interval* piece = nullptr) {
    if (!any) {
      any = true;
      first = start;
      first_piece = piece;
    } else if (piece == last_piece) {
      outside += start - last;
    }
    inside += stop - start;
    last = stop;
    last_piece = piece;
  }
  // Calls that come after these in the stream.
  void append(const Gauge& later);
};

struct Messages {
  std::uint64_t count = 0;
  std::int64_t bytes = 0;
};
struct SizeCount {
  std::uint64_t sends = 0;
  std::uint64_t receives = 0;
};

inline constexpr std::size_t kSizeClasses = 65;  // class n: sizes of n bits, so 0, 1, 2-3, 4-7, ...

// Calls of one rank in one bin; the maps are filled when asked for.
struct BinNumbers {
  Sums all;
  Gauge wall, cpu;
  std::vector<Gauge> counters;
  std::map<std::uint16_t, Sums> calls;
  std::map<std::int32_t, Messages> peers;
  std::map<std::size_t, SizeCount> sizes;
  void append(const BinNumbers& later);
};

// Of one rank.
struct RankNumbers {
  std::array<Sums, kIds> functions{};
  std::map<std::int32_t, Messages> peers;  // by receiving rank
  std::array<SizeCount, kSizeClasses> sizes{};
  Gauge wall, cpu;
  std::vector<Gauge> counters;
  // Only bins that hold calls; (number of the cut, number of the bin).
  std::map<std::pair<std::size_t, std::uint64_t>, BinNumbers> bins;
  void append(const RankNumbers& later);
};

// What is asked for.
struct StatisticsRequest {
  CallSelection calls{};
  TimeWindow window;
  std::vector<Bins> cuts;
  std::vector<std::string> tables;  // as `--by` names them
  [[nodiscard]] bool wants(std::string_view table) const {
    return std::find(tables.begin(), tables.end(), table) != tables.end();
  }
};

Result<TraceStatistics> statistics(const RankSet& set, const StatisticsOptions& options);

// The names that `--by` takes.
std::span<const std::string_view> table_names();
StatisticsTable make_table(std::string_view name, const RankSet& set, const std::vector<RankNumbers>& numbers,
                           const StatisticsRequest& request);

}  // namespace fathom::dumpi
