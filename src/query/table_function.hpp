// Tables of datasets as table functions of DuckDB: scanned in place, in parallel by part, with the columns that a query
// needs.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "base/execution.hpp"
#include "formats/dataset.hpp"
#include "query/duckdb_api.hpp"
#include "tables/tables.hpp"

namespace fathom::query {

// A dataset whose tables are registered; shared by all its functions.
struct ScannedDataset {
  std::shared_ptr<Dataset> dataset;
  Execution execution;
  std::shared_ptr<std::mutex> mutex;  // levels are made on first use
};

// Registers the table as a function of this name with its bounds as named parameters. `api` must outlive the
// connection.
Result<void> register_table(const DuckDb& api, DbConnection connection, std::shared_ptr<ScannedDataset> dataset,
                            const TableKind& kind, const std::string& function);

}  // namespace fathom::query
