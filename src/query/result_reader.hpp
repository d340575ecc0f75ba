// Results of DuckDB as tables.
#pragma once

#include <memory>

#include "base/execution.hpp"
#include "base/table.hpp"
#include "query/duckdb_api.hpp"

namespace fathom::query {

// True when values of this type become columns as they are; others are cast to texts by the query.
bool is_plain(DbTypeId type);

// A result that is read once: one part. It takes over `result` and keeps `owner` alive.
std::unique_ptr<TableSource> result_table(const DuckDb& api, DbResult result, Execution execution,
                                          std::shared_ptr<const void> owner);

}  // namespace fathom::query
