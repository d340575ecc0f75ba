#include "query/parquet.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/team.hpp"
#include "formats/dataset.hpp"
#include "io/output_set.hpp"
#include "io/shared_output.hpp"
#include "profile/profile.hpp"
#include "tables/tables.hpp"
#include "trace/extent.hpp"

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

// Rows stand in the order of the table, which takes one thread. Not those of events: they are many, and each of their
// row groups stands for itself.
template <class Write>
Result<void> in_order(Database& database, const Execution& execution, std::string_view table, const Write& write) {
  if (table == "event") return write();
  FATHOM_CHECK(database.run("SET threads = 1"));
  FATHOM_CHECK(write());
  return database.run(fmt::format("SET threads = {}", std::max(1U, execution.threads())));
}

}  // namespace

Result<void> write_parquet(Database& database, const std::string& query, OutputByName& file) {
  FATHOM_CHECK(copy(database, query, file.path(), ""));
  return file.commit();
}

namespace {

// The locations of a trace or profile, by name, and how much there is of each.
struct Locations {
  std::vector<std::string> labels;
  std::vector<std::uint64_t> weights;
};
Result<Locations> locations_of(Dataset& dataset) {
  Locations out;
  const std::vector<Level> levels = dataset.levels();
  const auto has = [&](Level level) { return std::find(levels.begin(), levels.end(), level) != levels.end(); };
  const auto add = [&](const SystemTree& system, const auto& weight) {
    for (std::size_t i = 0; i < system.location_count(); ++i) {
      out.labels.push_back(system.location_label(LocationId(i)));
      out.weights.push_back(weight(LocationId(i)));
    }
  };
  if (has(Level::trace)) {
    FATHOM_TRY(const auto trace, dataset.trace());
    add(trace->definitions().system, [&](LocationId id) { return extent(*trace, id); });
  } else if (has(Level::profile)) {
    FATHOM_TRY(const auto profile, dataset.profile());
    add(profile->defs().system, [](LocationId) { return std::uint64_t{1}; });
  }
  return out;
}

// Every process writes the rows of its locations: TABLE/part-0003.parquet. Tables that are not told apart by locations
// are the first one's.
Result<void> write_shards(DatasetPtr dataset, const std::filesystem::path& target, const ParquetOptions& options) {
  const std::vector<const TableKind*> kinds = tables_of(dataset->levels());
  if (!options.partition_by.empty()) return Error::usage("--partition is not for several processes");
  if (!options.table.empty()) {
    FATHOM_TRY(const auto checked, open_table(*dataset, options.table));
  }
  const std::filesystem::path source = dataset->path();
  FATHOM_TRY(const Locations locations, locations_of(*dataset));
  const auto by_location = [&](const TableKind& kind) {
    return std::find(kind.bounds.begin(), kind.bounds.end(), "location") != kind.bounds.end() &&
           !locations.labels.empty();
  };
  const auto wanted = [&](const TableKind& kind) { return options.table.empty() || kind.name == options.table; };
  FATHOM_TRY(SharedOutput shared, SharedOutput::make([&]() -> Result<OutputSet> {
               FATHOM_TRY(OutputSet set,
                          OutputSet::directory(
                              target, {.owns = [](const auto& file) { return is_table_file(file, ".parquet"); },
                                       .force = options.force,
                                       .source = source}));
               for (const TableKind* kind : kinds) {
                 std::error_code status;
                 if (by_location(*kind) && wanted(*kind))
                   std::filesystem::create_directory(set.path() / kind->name, status);
               }
               return set;
             }));
  const std::vector<unsigned> owner = deal(locations.weights, team().size());
  std::vector<std::string> own;
  for (std::size_t i = 0; i < owner.size(); ++i) {
    if (owner[i] == team().rank()) own.push_back(quoted_text(locations.labels[i]));
  }
  const unsigned rank = team().rank();
  const auto write_own = [&]() -> Result<void> {
    // The engine runs on threads of its own and on this one.
    const TeamScope alone(nullptr);
    FATHOM_TRY(
        const auto database,
        Database::open(
            {.allow_files = true, .writable = {}, .max_memory = options.max_memory, .execution = options.execution}));
    FATHOM_CHECK(database->add(std::move(dataset)));
    for (const TableKind* kind : kinds) {
      if (!wanted(*kind)) continue;
      const std::string name(kind->name);
      if (!by_location(*kind)) {
        if (rank != 0) continue;
        FATHOM_CHECK(in_order(*database, options.execution, name, [&] {
          return copy(*database, fmt::format("SELECT * FROM {}", quoted_name(name)),
                      shared.path() / (name + ".parquet"), "");
        }));
      } else if (!own.empty()) {
        FATHOM_CHECK(in_order(*database, options.execution, name, [&] {
          return copy(*database, fmt::format("SELECT * FROM {}(location := [{}])", name, fmt::join(own, ", ")),
                      shared.path() / name / fmt::format("part-{:04}.parquet", rank), "");
        }));
      }
    }
    return {};
  };
  FATHOM_CHECK(write_own());
  FATHOM_CHECK(shared.all_written());
  return shared.set().commit();
}

}  // namespace

Result<void> write_parquet(DatasetPtr dataset, const std::filesystem::path& target, const ParquetOptions& options) {
  FATHOM_CHECK(team().assemble("parquet"));
  if (!team().alone()) return write_shards(std::move(dataset), target, options);
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
    FATHOM_TRY(OutputByName file, OutputByName::create(target));
    return in_order(*database, options.execution, options.table, [&] {
      return write_parquet(*database, fmt::format("SELECT * FROM {}", quoted_name(options.table)), file);
    });
  }
  FATHOM_TRY(OutputSet directory,
             OutputSet::directory(target, {.owns = [](const auto& file) { return is_table_file(file, ".parquet"); },
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
    FATHOM_CHECK(in_order(*database, options.execution, table.name, [&] {
      return copy(*database, fmt::format("SELECT * FROM {}", quoted_name(table.name)), to,
                  folders ? options.partition_by : "");
    }));
  }
  if (!options.partition_by.empty() && !partitioned) {
    return Error::usage(fmt::format("no table has a column '{}' to partition by", options.partition_by));
  }
  return directory.commit();
}

}  // namespace fathom::query
