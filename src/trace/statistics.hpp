// What `stats` shows of a trace: typed numbers that formats count from their native records or the level from events.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/capped_sum.hpp"
#include "base/table.hpp"

namespace fathom {

// Numbers of one kind of call; what a format does not know stays empty and is not shown.
struct CallStatistics {
  std::string name;
  std::uint64_t count = 0;
  std::optional<double> wall_s;
  std::optional<double> cpu_s;
  std::optional<std::int64_t> bytes;  // moved by this call: sent and received as the call's own rules say
  std::optional<std::int64_t> sent;
  std::optional<std::int64_t> received;
};

struct MatrixEntry {
  std::int64_t src = 0;
  std::int64_t dst = 0;
  std::uint64_t messages = 0;
  CappedSum bytes;
};

struct TraceStatistics {
  std::vector<CallStatistics> calls;  // in the order of the format's own numbering or as it prints them
  std::vector<MatrixEntry> matrix;    // point-to-point, by world rank
  bool has_matrix = false;
  std::vector<Table> tables;  // further ones: ranks, bins, size classes; named as in the JSON form
};

// Columns call, count, wall_s, cpu_s, bytes, sent, received.
Table calls_table(const std::vector<CallStatistics>& calls);
// Columns src, dst, messages, bytes.
Table matrix_table(const std::vector<MatrixEntry>& matrix);

// What the user asked for.
struct StatisticsOptions {
  std::vector<std::string> by;                               // --by: further tables, as the format names them
  std::vector<std::pair<std::string, std::string>> options;  // --option KEY=VALUE, for the format to judge
  std::optional<std::int64_t> from_ns;
  std::optional<std::int64_t> to_ns;
  std::vector<std::string> locations;  // labels; empty = all
};

}  // namespace fathom
