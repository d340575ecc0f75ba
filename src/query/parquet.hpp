// The tables of a dataset as Parquet files, for engines elsewhere.
#pragma once

#include <filesystem>
#include <string>

#include "io/output_by_name.hpp"
#include "query/database.hpp"

namespace fathom::query {

struct ParquetOptions {
  std::string table;         // only this one, into one file; empty = all, one file each in a directory
  std::string partition_by;  // a folder per value of this column, where a table has it; empty = none
  Execution execution;
  std::uint64_t max_memory = 0;
  bool force = false;  // into a directory that holds other files, too; they stay
};

// zstd; a row group is a piece of one location in time order, so that engines skip by its statistics. The target
// appears whole or not at all.
// Several processes (base/team.hpp) write the rows of their own locations as TABLE/part-NNNN.parquet.
Result<void> write_parquet(DatasetPtr dataset, const std::filesystem::path& target, const ParquetOptions& options);
// The result of a query as one file, which the database must allow to write.
Result<void> write_parquet(Database& database, const std::string& query, OutputByName& file);

}  // namespace fathom::query
