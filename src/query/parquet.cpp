#include "query/parquet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "io/output_set.hpp"
#include "tables/tables.hpp"

namespace fathom::query {

namespace {

// Large enough to compress well, small enough that a piece of a location is one.
constexpr std::size_t kRowGroup = 122880;

Result<void> copy(Database& database, const std::string& rows, const std::filesystem::path& to,
                  const std::string& partition_by) {
  const std::string partition =
      partition_by.empty() ? "" : fmt::format(", PARTITION_BY ({})", quoted_name(partition_by));
  // ROW_GROUP_SIZE and PARTITION_BY are of different ways of writing.
  const std::string groups = partition_by.empty() ? fmt::format(", ROW_GROUP_SIZE {}", kRowGroup) : "";
  return database.run(fmt::format("COPY ({}) TO {} (FORMAT parquet, COMPRESSION zstd{}{})", rows,
                                  quoted_text(to.string()), groups, partition));
}

}  // namespace

std::filesystem::path parquet_temporary(const std::filesystem::path& target) {
  return target.parent_path() / fmt::format(".{}.part", target.filename().string());
}

Result<void> write_parquet(Database& database, const std::string& query, const std::filesystem::path& target) {
  const std::filesystem::path part = parquet_temporary(target);
  auto status = copy(database, query, part, "");
  std::error_code failed;
  if (status.ok()) {
    std::filesystem::rename(part, target, failed);
    if (!failed) return {};
    status = Error(fmt::format("cannot be written: {}", failed.message()), Place::in(target.string()));
  }
  std::filesystem::remove(part, failed);
  return status;
}

Result<void> write_parquet(DatasetPtr dataset, const std::filesystem::path& target, const ParquetOptions& options) {
  const std::vector<const TableKind*> kinds = tables_of(dataset->levels());
  const std::filesystem::path source = dataset->path();
  // The same error for a table that is not there, whatever asks for it.
  if (!options.table.empty()) {
    FATHOM_TRY(const auto checked, open_table(*dataset, options.table));
  }
  FATHOM_TRY(
      const auto database,
      Database::open(
          {.allow_files = true, .writable = {}, .max_memory = options.max_memory, .execution = options.execution}));
  FATHOM_CHECK(database->add(std::move(dataset)));
  if (!options.table.empty() && options.partition_by.empty()) {
    return write_parquet(*database, fmt::format("SELECT * FROM {}", quoted_name(options.table)), target);
  }
  FATHOM_TRY(OutputSet directory,
             OutputSet::directory(target, {.owns = [](const auto& file) { return file.extension() == ".parquet"; },
                                           .force = options.force,
                                           .source = source}));
  bool partitioned = false;
  for (const Database::Name& table : database->names()) {
    const bool is_table =
        std::any_of(kinds.begin(), kinds.end(), [&](const TableKind* k) { return k->name == table.name; });
    if (!is_table || (!options.table.empty() && table.name != options.table)) continue;
    const bool has = std::find(table.columns.begin(), table.columns.end(), options.partition_by) != table.columns.end();
    const bool folders = !options.partition_by.empty() && has;
    partitioned = partitioned || folders;
    const std::filesystem::path to = directory.path() / (folders ? table.name : table.name + ".parquet");
    FATHOM_CHECK(copy(*database, fmt::format("SELECT * FROM {}", quoted_name(table.name)), to,
                      folders ? options.partition_by : ""));
  }
  if (!options.partition_by.empty() && !partitioned) {
    return Error::usage(fmt::format("no table has a column '{}' to partition by", options.partition_by));
  }
  return directory.commit();
}

}  // namespace fathom::query
