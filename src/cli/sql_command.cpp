// fathom sql: SQL over any dataset.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/line_editor.hpp"
#include "cli/pager.hpp"
#include "cli/session.hpp"
#include "cli/sql_output.hpp"
#include "io/opened_files.hpp"
#include "io/output_by_name.hpp"
#include "query/database.hpp"
#include "query/parquet.hpp"

namespace fathom::cli {

namespace {

class SqlCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positionals("PATH… QUERY", words_, "datasets of any format, and what to ask")
        .flag("--markdown", markdown_, "a Markdown table instead of text")
        .value("-o,--output", "OUT", &target_, "write the result there: .parquet, .csv or .json")
        .flag("--allow-files", allow_files_, "let queries read and write files and load extensions")
        .flag("--tables", tables_, "list the tables and their columns")
        .about(
            "Tables: metric, region, context, location, value, event, message, parameter, point, measurement, model, "
            "as the dataset has them; nothing is imported. value, event and message also take bounds, which spare the "
            "reading of what is not wanted: value(metric := 'time', location := [0, 1], flavour := 'inclusive'), "
            "event(from_ns := 0, to_ns := 1000000, location := 3). Of several paths each is a schema: a.value, "
            "b.value. Without a query there is a prompt; queries come from the standard input when that is no "
            "terminal. The engine is DuckDB, loaded when it is needed.")
        .example("fathom sql run.cubex \"SELECT * FROM hot_region WHERE metric = 'time' LIMIT 5\"", "what costs most")
        .example("fathom sql run.meta 'SELECT * FROM message_matrix' --csv", "who sends how much to whom")
        .example(
            "fathom sql a.cubex b.cubex 'SELECT sum(b.value) - sum(a.value) FROM a.value a JOIN b.value b "
            "USING (metric, context, location)'",
            "two runs in one query")
        .example("fathom sql run.meta 'SELECT * FROM event' -o events.parquet", "a table for another engine");
  }

  Result<int> run(Session& session) override {
    FATHOM_CHECK(split_words());
    std::vector<DatasetPtr> datasets;
    for (const std::string& path : paths_) {
      FATHOM_TRY(DatasetPtr dataset, session.open(path));
      datasets.push_back(std::move(dataset));
    }
    if (target_) FATHOM_CHECK(spare_inputs(*target_));
    query::DatabaseOptions options;
    options.allow_files = allow_files_;
    options.execution = Execution::current();
    options.max_memory = session.options().max_memory.value_or(0);
    const bool parquet = target_ && std::filesystem::path(*target_).extension() == ".parquet";
    std::optional<OutputByName> file;
    if (parquet) {
      FATHOM_TRY(OutputByName created, OutputByName::create(std::filesystem::absolute(*target_)));
      file.emplace(std::move(created));
      options.writable.push_back(file->path());
    }
    FATHOM_TRY(const auto database, query::Database::open(std::move(options)));
    std::vector<std::string> schemas;
    for (std::size_t i = 0; i < datasets.size(); ++i) {
      if (paths_.size() > 1) schemas.push_back(query::schema_name(paths_[i], schemas));
      FATHOM_CHECK(database->add(std::move(datasets[i]), schemas.empty() ? "" : schemas.back()));
    }
    FATHOM_CHECK(database->seal());
    if (tables_) return list_tables(session, *database);
    if (!query_) return read_queries(session, *database);
    if (file) {
      FATHOM_CHECK(query::write_parquet(*database, *query_, *file));
      return kDone;
    }
    FATHOM_CHECK(answer(session, *database, *query_));
    return kDone;
  }

 private:
  // The last word is the query, unless it is a path.
  Result<void> split_words() {
    paths_ = words_;
    std::error_code ignored;
    if (words_.size() > 1 && !std::filesystem::exists(words_.back(), ignored)) {
      query_ = words_.back();
      paths_.pop_back();
    }
    if (markdown_ && target_) return Error::usage("--markdown goes to the standard output");
    return {};
  }

  [[nodiscard]] Result<void> answer(Session& session, query::Database& database, const std::string& sql) const {
    FATHOM_TRY(const query::QueryResult result, database.query(sql));
    if (!result.any_columns) return {};
    SqlForm form = session.csv() ? SqlForm::csv : session.json() ? SqlForm::json : SqlForm::text;
    if (markdown_) form = SqlForm::markdown;
    if (target_) return write_sql_file(*result.rows, *target_, session.out().csv_safe());
    const auto write = [&](Output& out) { return write_sql_result(out, form, *result.rows); };
    return at_prompt_ ? through_pager(session.out(), write) : write(session.out());
  }

  static Result<int> list_tables(Session& session, const query::Database& database) {
    if (session.json() || session.csv()) {
      TableBuilder rows(
          {"table", {{"name", ColumnType::text}, {"columns", ColumnType::text}, {"title", ColumnType::text}}});
      for (const auto& table : database.names()) {
        rows.row(table.name, fmt::format("{}", fmt::join(table.columns, ", ")), table.title);
      }
      FATHOM_CHECK(session.show_rows(*source_of(std::move(rows).finish())));
      return kDone;
    }
    for (const auto& table : database.names()) {
      session.out().write(fmt::format("{}({})\n    {}\n", table.name, fmt::join(table.columns, ", "), table.title));
    }
    return kDone;
  }

  // One query per line, or over several lines until ';'. At a prompt a mistake is shown and the next one is read.
  Result<int> read_queries(Session& session, query::Database& database) {
    const bool person = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
    at_prompt_ = person;
    std::optional<LineEditor> editor;
    if (person) {
      session.note("type a query and ';', .tables, .schema TABLE, or .quit");
      editor.emplace(words_to_complete(database), history_path("sql_history"));
    }
    std::string pending;
    std::string line;
    while (true) {
      session.out().flush();
      bool more = false;
      if (editor) {
        const auto typed = editor->read(pending.empty() ? "sql> " : "  -> ");
        more = typed.has_value();
        line = typed.value_or("");
        if (!trim(line).empty()) editor->remember(line);
      } else {
        more = static_cast<bool>(std::getline(std::cin, line));
      }
      if (!more && trim(pending).empty()) return kDone;
      const std::string_view words = trim(line);
      if (more && pending.empty() && words.starts_with('.')) {
        if (words == ".quit" || words == ".exit") return kDone;
        FATHOM_CHECK(meta_command(session, database, words));
        continue;
      }
      if (more) pending += line + "\n";
      if (more && !trim(pending).ends_with(';')) continue;
      if (trim(pending).empty()) {
        pending.clear();
        continue;
      }
      const auto status = answer(session, database, pending);
      pending.clear();
      if (!status.ok()) {
        if (!person) return status.error();
        session.out().flush();
        session.show_error(status.error());
      }
      if (!more) return kDone;
    }
  }

  static std::vector<std::string> words_to_complete(const query::Database& database) {
    std::vector<std::string> words = {".tables",  ".schema", ".quit",    "SELECT", "FROM",  "WHERE", "GROUP BY",
                                      "ORDER BY", "LIMIT",   "DISTINCT", "JOIN",   "USING", "HAVING"};
    for (const auto& table : database.names()) {
      words.push_back(table.name);
      words.insert(words.end(), table.columns.begin(), table.columns.end());
    }
    return words;
  }

  Result<void> meta_command(Session& session, query::Database& database, std::string_view words) {
    if (words == ".tables") {
      for (const auto& table : database.names()) {
        session.out().write(fmt::format("{:<20} {}\n", table.name, table.title));
      }
      return {};
    }
    if (words.starts_with(".schema")) {
      const std::string_view wanted = trim(words.substr(7));
      for (const auto& table : database.names()) {
        if (!wanted.empty() && table.name != wanted) continue;
        session.out().write(fmt::format("{}({})\n", table.name, fmt::join(table.columns, ", ")));
      }
      return {};
    }
    session.out().write("commands: .tables, .schema [TABLE], .quit\n");
    return {};
  }

  std::vector<std::string> words_;
  std::vector<std::string> paths_;
  std::optional<std::string> query_;
  std::optional<std::string> target_;
  bool markdown_ = false;
  bool allow_files_ = false;
  bool tables_ = false;
  bool at_prompt_ = false;
};

}  // namespace

std::unique_ptr<Command> make_sql_command() { return std::make_unique<SqlCommand>(); }

}  // namespace fathom::cli
