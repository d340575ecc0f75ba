// A table whose columns the user chooses, each over calls of its own: count=mpi, time=coll, sent=sends, ...
#pragma once

#include <optional>
#include <set>
#include <string>

#include "base/table.hpp"
#include "formats/dumpi/call_selection.hpp"
#include "formats/dumpi/statistics_numbers.hpp"

namespace fathom::dumpi {

enum class ColumnKind : std::uint8_t {
  count,     // calls
  time,      // inside of the calls and between them, on both clocks
  sent,      // bytes
  received,  // bytes
  exchange,  // bytes sent to each rank, point-to-point
  lump,      // messages by size, sent and received
  counters,  // hardware counters, inside of the calls and between them
};
// "count", "time", "sent", "recvd", "exchange", "lump", "perfctr"
std::optional<ColumnKind> column_kind(std::string_view name);

// One choice; it may be several columns of the table.
struct Column {
  ColumnKind kind = ColumnKind::count;
  std::string text;  // which calls, as the user wrote it
  CallSelection calls{};
};

// Adds a call to the columns whose calls it is one of.
void count_columns(const std::vector<Column>& columns, const Call& call, const Contribution& added,
                   const Interval* piece, std::vector<ColumnNumbers>& numbers);

// What the columns of all rows have to show: ranks, sizes and counters that occur.
class ColumnTitles {
 public:
  explicit ColumnTitles(const std::vector<Column>& columns) : columns_(columns), found_(columns.size()) {}
  // Every row must be seen before the first is made.
  void see(const std::vector<ColumnNumbers>& row, const std::vector<std::string>& counters);

  [[nodiscard]] std::vector<ColumnSpec> titles() const;
  // `wall` and `cpu` of all calls of the row say how long it was active.
  void append_cells(const std::vector<ColumnNumbers>& row, const Gauge& wall, const Gauge& cpu,
                    std::vector<TableBuilder::Cell>& cells) const;

 private:
  struct Found {
    std::set<std::int32_t> peers;
    std::set<std::size_t> sizes;
    std::vector<std::string> counters;
  };
  const std::vector<Column>& columns_;
  std::vector<Found> found_;
};

}  // namespace fathom::dumpi
