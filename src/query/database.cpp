#include "query/database.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>

#include "base/cancel.hpp"
#include "base/text.hpp"
#include "io/temporary.hpp"
#include "query/predefined_views.hpp"
#include "query/result_reader.hpp"
#include "query/table_function.hpp"

namespace fathom::query {

std::string quoted_text(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("''") : std::string(1, c);
  return out + "'";
}

std::string quoted_name(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string schema_name(const std::filesystem::path& path, const std::vector<std::string>& taken) {
  // "run.cubex" and "run.cubex/" are both called run.
  std::filesystem::path named = path;
  if (!named.has_filename()) named = named.parent_path();
  std::string base = named.stem().string();
  for (char& c : base) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (!plain) c = '_';
  }
  if (base.empty() || (base[0] >= '0' && base[0] <= '9')) base.insert(0, "_");
  // Names of the engine's own.
  if (base == "main" || base == "temp" || base == "system" || base == "information_schema") base += "_";
  std::string name = base;
  for (int i = 2; std::find(taken.begin(), taken.end(), name) != taken.end(); ++i) name = fmt::format("{}_{}", base, i);
  return name;
}

// DuckDB's own allocator crashes where a limit of the process (ulimit -d, -v) leaves it nothing, so this is tried
// before.
Result<void> check_memory(unsigned threads) {
  constexpr std::size_t kMegabyte = 1 << 20;
  constexpr std::size_t kAlone = 128 * kMegabyte;  // what a small query needs, by trial
  constexpr std::size_t kPerThread = 16 * kMegabyte;
  const std::size_t needed = kAlone + kPerThread * threads;
  void* room = mmap(nullptr, needed, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) {
    return Error(fmt::format("DuckDB needs {} MB of memory for {} thread{}, more than this process may have",
                             needed / kMegabyte, threads, threads == 1 ? "" : "s"))
        .hint("raise the limit (ulimit -d, ulimit -v); --threads 1 needs less");
  }
  munmap(room, needed);
  return {};
}

// DuckDB's own objects, and the folder into which it may spill.
class Database::Engine {
 public:
  explicit Engine(const DuckDb& from) : api(from) {}
  ~Engine() {
    if (connection != nullptr) api.disconnect(&connection);
    if (database != nullptr) api.close(&database);
  }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  Result<void> start(unsigned threads, std::uint64_t max_memory) {
    FATHOM_CHECK(check_memory(std::max(1U, threads)));
    FATHOM_TRY(spill, TemporaryFolder::make("sql"));
    DbConfig config = nullptr;
    if (api.create_config(&config) != kDbSuccess) return Error("DuckDB cannot be set up");
    const auto set = [&](const char* name, const std::string& value) { api.set_config(config, name, value.c_str()); };
    set("threads", std::to_string(std::max(1U, threads)));
    if (max_memory > 0) set("memory_limit", fmt::format("{}B", max_memory));
    set("temp_directory", spill->path().string());
    set("autoinstall_known_extensions", "false");
    set("autoload_known_extensions", "false");
    set("preserve_insertion_order", "false");
    char* why = nullptr;
    const DbState state = api.open_ext(":memory:", &database, config, &why);
    api.destroy_config(&config);
    if (state != kDbSuccess) {
      Error error(fmt::format("DuckDB cannot be started: {}", why == nullptr ? "?" : why));
      if (why != nullptr) api.free(why);
      return error;
    }
    if (api.connect(database, &connection) != kDbSuccess) return Error("DuckDB refuses a connection");
    return {};
  }

  const DuckDb& api;
  DbDatabase database = nullptr;
  DbConnection connection = nullptr;
  std::unique_ptr<TemporaryFolder> spill;
};

Database::Database() = default;
Database::~Database() = default;

Result<std::shared_ptr<Database>> Database::open(DatabaseOptions options) {
  FATHOM_TRY(const DuckDb* api, load_duckdb());
  std::shared_ptr<Database> made(new Database);
  made->options_ = std::move(options);
  made->engine_ = std::make_unique<Engine>(*api);
  FATHOM_CHECK(made->engine_->start(made->options_.execution.threads(), made->options_.max_memory));
  return made;
}

Result<void> Database::run(const std::string& sql) {
  DbResult result;
  const DbState state = engine_->api.query(engine_->connection, sql.c_str(), &result);
  std::string why;
  if (state != kDbSuccess) {
    const char* text = engine_->api.result_error(&result);
    why = text == nullptr ? "the query failed" : text;
  }
  engine_->api.destroy_result(&result);
  if (state != kDbSuccess) return Error::usage(why);
  return {};
}

Result<std::vector<std::string>> Database::columns_of(const std::string& name) {
  std::vector<std::string> out;
  FATHOM_TRY(QueryResult described, query(fmt::format("SELECT column_name FROM (DESCRIBE {})", name)));
  FATHOM_TRY(const Table table, read_all(*described.rows));
  for (std::size_t row = 0; row < table.rows(); ++row) out.emplace_back(table.data.columns[0].text(row));
  return out;
}

Result<void> Database::add(std::shared_ptr<Dataset> dataset, const std::string& schema,
                           std::shared_ptr<std::mutex> mutex) {
  const std::string prefix = schema.empty() ? "" : quoted_name(schema) + ".";
  const std::string shown = schema.empty() ? "" : schema + ".";
  if (!schema.empty()) FATHOM_CHECK(run(fmt::format("CREATE SCHEMA {}", quoted_name(schema))));
  auto scanned = std::make_shared<ScannedDataset>();
  scanned->execution = options_.execution;
  scanned->dataset = std::move(dataset);
  scanned->mutex = mutex ? std::move(mutex) : std::make_shared<std::mutex>();
  std::vector<std::string> tables;
  for (const TableKind* kind : tables_of(scanned->dataset->levels())) {
    const std::string function = fmt::format("fathom_{}_{}", datasets_, kind->name);
    FATHOM_CHECK(register_table(engine_->api, engine_->connection, scanned, *kind, function));
    FATHOM_CHECK(run(fmt::format("CREATE VIEW {}{} AS SELECT * FROM {}()", prefix, kind->name, function)));
    if (!kind->bounds.empty()) {
      std::vector<std::string> declared;
      std::vector<std::string> passed;
      for (const std::string_view bound : kind->bounds) {
        declared.push_back(fmt::format("{} := NULL", bound));
        passed.push_back(fmt::format("{0} := {0}", bound));
      }
      FATHOM_CHECK(run(fmt::format("CREATE MACRO {}{}({}) AS TABLE SELECT * FROM {}({})", prefix, kind->name,
                                   fmt::join(declared, ", "), function, fmt::join(passed, ", "))));
    }
    tables.emplace_back(kind->name);
    FATHOM_TRY(auto columns, columns_of(prefix + std::string(kind->name)));
    names_.push_back({shown + std::string(kind->name), std::string(kind->title), std::move(columns)});
  }
  ++datasets_;
  return add_views(schema, tables);
}

Result<void> Database::add_views(const std::string& schema, const std::vector<std::string>& tables) {
  const std::string prefix = schema.empty() ? "" : quoted_name(schema) + ".";
  for (const PredefinedView& view : predefined_views()) {
    const bool there = std::all_of(view.needs.begin(), view.needs.end(), [&](std::string_view table) {
      return std::find(tables.begin(), tables.end(), table) != tables.end();
    });
    if (!there) continue;
    std::string sql(view.sql);
    // Tables are written as {value}, so that each schema has views of its own tables.
    for (const std::string_view table : view.needs) {
      const std::string mark = fmt::format("{{{}}}", table);
      for (std::size_t at = sql.find(mark); at != std::string::npos; at = sql.find(mark)) {
        sql.replace(at, mark.size(), prefix + std::string(table));
      }
    }
    FATHOM_CHECK(run(fmt::format("CREATE VIEW {}{} AS {}", prefix, view.name, sql)));
    FATHOM_TRY(auto columns, columns_of(prefix + std::string(view.name)));
    names_.push_back(
        {(schema.empty() ? "" : schema + ".") + std::string(view.name), std::string(view.title), std::move(columns)});
  }
  return {};
}

Result<void> Database::seal() {
  if (!options_.allow_files) {
    std::vector<std::string> paths;
    for (const auto& path : options_.writable) paths.push_back(quoted_text(path.string()));
    if (!paths.empty()) FATHOM_CHECK(run(fmt::format("SET allowed_paths = [{}]", fmt::join(paths, ", "))));
    FATHOM_CHECK(run("SET enable_external_access = false"));
  }
  return run("SET lock_configuration = true");
}

namespace {

// Owns what a statement needs while it is being run.
class Statement {
 public:
  explicit Statement(const DuckDb& api) : api_(api) {}
  ~Statement() {
    if (pending != nullptr) api_.destroy_pending(&pending);
    if (prepared != nullptr) api_.destroy_prepare(&prepared);
  }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  DbStatement prepared = nullptr;
  DbPending pending = nullptr;

  [[nodiscard]] Error failed() const {
    const char* why = pending != nullptr ? api_.pending_error(pending) : api_.prepare_error(prepared);
    return Error::usage(why == nullptr || *why == '\0' ? "the query failed" : why);
  }

  // Casts of columns that have no form of ours; "" when there are none.
  [[nodiscard]] std::string casts() const {
    std::string out;
    bool any = false;
    for (idx_t i = 0; i < api_.prepared_statement_column_count(prepared); ++i) {
      // A copy, unlike the names of a result.
      const char* text = api_.prepared_statement_column_name(prepared, i);
      const std::string name = quoted_name(text == nullptr ? "" : text);
      api_.free(const_cast<char*>(text));
      const bool plain = is_plain(api_.prepared_statement_column_type(prepared, i));
      any = any || !plain;
      out += fmt::format("{}{}", i > 0 ? ", " : "", plain ? name : fmt::format("CAST({0} AS VARCHAR) AS {0}", name));
    }
    return any ? out : "";
  }

  Result<DbResult> execute(DbConnection connection) {
    if (api_.pending_prepared_streaming(prepared, &pending) != kDbSuccess) return failed();
    while (true) {
      if (cancelled()) {
        api_.interrupt(connection);
        return cancelled_error();
      }
      const DbPendingState state = api_.pending_execute_task(pending);
      if (state == kDbPendingError) return cancelled() ? cancelled_error() : failed();
      if (api_.pending_execution_is_finished(state) || state == kDbResultReady) break;
      if (state == kDbNoTasks) usleep(200);  // others have them
    }
    DbResult result;
    if (api_.execute_pending(pending, &result) != kDbSuccess) {
      const char* why = api_.result_error(&result);
      Error error = Error::usage(why == nullptr ? "the query failed" : why);
      api_.destroy_result(&result);
      return error;
    }
    return result;
  }

 private:
  const DuckDb& api_;
};

std::string without_end(std::string_view sql) {
  std::string_view out = trim(sql);
  while (!out.empty() && out.back() == ';') out = trim(out.substr(0, out.size() - 1));
  return std::string(out);
}

}  // namespace

Result<QueryResult> Database::query(std::string_view sql) {
  const ExecutionScope scope(options_.execution);
  const DuckDb& api = engine_->api;
  const std::string text = without_end(sql);
  if (text.empty()) return Error::usage("an empty query");
  DbStatements all = nullptr;
  const idx_t count = api.extract_statements(engine_->connection, text.c_str(), &all);
  struct Extracted {
    const DuckDb& api;
    DbStatements statements;
    ~Extracted() { api.destroy_extracted(&statements); }
  } extracted{api, all};
  if (count == 0) {
    const char* why = api.extract_statements_error(all);
    return Error::usage(why == nullptr ? "no statement" : why);
  }
  for (idx_t i = 0; i < count; ++i) {
    Statement statement(api);
    if (api.prepare_extracted_statement(engine_->connection, all, i, &statement.prepared) != kDbSuccess) {
      return statement.failed();
    }
    const bool last = i + 1 == count;
    if (const std::string casts = statement.casts(); last && !casts.empty()) {
      if (count > 1) {
        return Error::usage("a column of the result is of a type that has no form here")
            .hint("CAST it to VARCHAR, or run the last statement alone");
      }
      Statement cast(api);
      const std::string wrapped = fmt::format("SELECT {} FROM ({})", casts, text);
      // Where it cannot be nested (DESCRIBE, ...), the error of the type is the one to show.
      if (api.prepare(engine_->connection, wrapped.c_str(), &cast.prepared) != kDbSuccess) return cast.failed();
      FATHOM_TRY(const DbResult result, cast.execute(engine_->connection));
      return QueryResult{result_table(api, result, options_.execution, shared_from_this()), true};
    }
    FATHOM_TRY(DbResult result, statement.execute(engine_->connection));
    if (!last) {
      api.destroy_result(&result);
      continue;
    }
    const bool any = api.column_count(&result) > 0;
    return QueryResult{result_table(api, result, options_.execution, shared_from_this()), any};
  }
  return QueryResult{};
}

}  // namespace fathom::query
