// Numbers over calls: per function, rank, time bin, message size; who sends how much to whom.
#pragma once

#include "base/option.hpp"
#include "formats/dumpi/columns.hpp"
#include "formats/dumpi/resolve.hpp"
#include "trace/statistics.hpp"

namespace fathom::dumpi {

// What is asked for.
struct StatisticsRequest {
  CallSelection calls{};
  TimeWindow window;
  std::vector<Bins> cuts;
  std::vector<std::string> tables;  // as `--by` names them
  std::vector<Column> columns;      // of the table that the user makes up
  // Persistent sends count in the matrix when they are made, as in the community's tool, not each time they are
  // started.
  bool persistent_when_made = false;
  [[nodiscard]] bool wants(std::string_view table) const {
    return std::find(tables.begin(), tables.end(), table) != tables.end();
  }
};

Result<TraceStatistics> statistics(const RankSet& set, const StatisticsOptions& options);
// What they take beside tables and bounds.
std::vector<const OptionDeclaration*> statistics_options();

// The names that `--by` takes.
std::span<const std::string_view> table_names();
Table make_table(std::string_view name, const RankSet& set, const std::vector<RankNumbers>& numbers,
                 const StatisticsRequest& request);

}  // namespace fathom::dumpi
