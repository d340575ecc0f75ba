// Datasets behind one SQL engine: tables as views, the same with bounds as functions, results as tables.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/execution.hpp"
#include "base/table.hpp"
#include "formats/dataset.hpp"

namespace fathom::query {

struct DatabaseOptions {
  // Queries may read and write files, load extensions and reach the network; off, they see the datasets and nothing
  // else.
  bool allow_files = false;
  std::vector<std::filesystem::path> writable;  // may be written even so: where results go
  std::uint64_t max_memory = 0;                 // bytes; 0 = the engine's own limit
  Execution execution;                          // threads and cancel of all queries
};

// A result, read once, batch by batch; it keeps the database alive.
struct QueryResult {
  std::unique_ptr<TableSource> rows;
  bool any_columns = false;  // false for statements that return nothing
};

// MT: externally synchronised.
class Database : public std::enable_shared_from_this<Database> {
 public:
  // An error that says how to get DuckDB where it is missing.
  static Result<std::shared_ptr<Database>> open(DatabaseOptions options);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // The tables of a dataset, in a schema of this name; "" = the one that needs no name. `mutex`: held while levels are
  // made, where others use the dataset, too.
  Result<void> add(std::shared_ptr<Dataset> dataset, const std::string& schema = {},
                   std::shared_ptr<std::mutex> mutex = nullptr);
  // From now on options cannot be changed and files are out of reach, unless they are allowed.
  Result<void> seal();

  // All statements; the result is that of the last one.
  Result<QueryResult> query(std::string_view sql);
  // A statement whose result nobody needs.
  Result<void> run(const std::string& sql);

  // "value", "a.value": what can be asked for, views last; with their columns.
  struct Name {
    std::string name;
    std::string title;
    std::vector<std::string> columns;
  };
  [[nodiscard]] const std::vector<Name>& names() const { return names_; }

 private:
  class Engine;
  Database();
  Result<std::vector<std::string>> columns_of(const std::string& name);
  Result<void> add_views(const std::string& schema, const std::vector<std::string>& tables);

  std::unique_ptr<Engine> engine_;
  DatabaseOptions options_;
  std::vector<Name> names_;
  std::size_t datasets_ = 0;
};

// A name for the schema of a path: its stem, made an identifier, different from those taken.
std::string schema_name(const std::filesystem::path& path, const std::vector<std::string>& taken);
// "it''s" in quotes, and a name in double quotes, as SQL writes them.
std::string quoted_text(std::string_view text);
std::string quoted_name(std::string_view name);

}  // namespace fathom::query
