#include "trace/statistics.hpp"

namespace fathom {

Table calls_table(const std::vector<CallStatistics>& calls) {
  TableBuilder table({"calls",
                      {{"call", ColumnType::text},
                       {"count", ColumnType::uint64, "occ"},
                       {"wall_s", ColumnType::float64, "s"},
                       {"cpu_s", ColumnType::float64, "s"},
                       {"bytes", ColumnType::int64, "bytes"},
                       {"sent", ColumnType::int64, "bytes"},
                       {"received", ColumnType::int64, "bytes"}}});
  for (const CallStatistics& call : calls) {
    table.row(call.name, call.count, call.wall_s, call.cpu_s, call.bytes, call.sent, call.received);
  }
  return std::move(table).finish();
}

Table matrix_table(const std::vector<MatrixEntry>& matrix) {
  TableBuilder table({"matrix",
                      {{"src", ColumnType::int64, "", "FROM"},
                       {"dst", ColumnType::int64, "", "TO"},
                       {"messages", ColumnType::uint64, "occ"},
                       {"bytes", ColumnType::int64, "bytes"}}});
  for (const MatrixEntry& entry : matrix) table.row(entry.src, entry.dst, entry.messages, entry.bytes.value());
  return std::move(table).finish();
}

}  // namespace fathom
