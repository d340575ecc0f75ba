#include "formats/nsight/database.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace fathom::nsight {
namespace {

constexpr std::string_view kMagic{"SQLite format 3\0", 16};
constexpr std::size_t kHeader = 100;
// Bytes 18 and 19 of the header say how the file is written: 1 with a rollback journal, 2 with a write-ahead log.
constexpr std::size_t kWriteVersion = 18;
constexpr std::byte kWriteAheadLog{2};
constexpr std::byte kRollbackJournal{1};
constexpr std::uintmax_t kLogHeader = 32;
constexpr std::string_view kJournalMagic = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";
// SQLite's virtual machine looks at us after so many of its steps.
constexpr int kStepsPerLook = 1000;
constexpr std::uint64_t kShortQuery = 1'000'000;
// A column's text or blob: names of functions and call paths, no data.
constexpr int kLongestValue = 16 << 20;

std::string sql_name(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

// A file in write-ahead mode wants files beside it to be opened; without a log its pages are complete.
Result<Blob> without_log(const Blob& blob, const Work& work, Budget::Reservation& memory) {
  if (blob.bytes()[kWriteVersion] != kWriteAheadLog && blob.bytes()[kWriteVersion + 1] != kWriteAheadLog) return blob;
  FATHOM_TRY(memory, work->budget.reserve(blob.size(), "copy of a database in write-ahead mode"));
  std::vector<std::byte> bytes(blob.bytes().begin(), blob.bytes().end());
  bytes[kWriteVersion] = bytes[kWriteVersion + 1] = kRollbackJournal;
  return Blob::own(blob.name(), std::move(bytes));
}

// What a program that was stopped has changed may be in a file beside the database, which is not read.
Result<void> tell_changes_beside(const std::filesystem::path& path, const Work& work) {
  const auto has_more = [](const std::filesystem::path& file, std::uintmax_t size) {
    std::error_code error;
    return std::filesystem::is_regular_file(file, error) && std::filesystem::file_size(file, error) > size && !error;
  };
  std::filesystem::path log = path;
  log += "-wal";
  if (has_more(log, kLogHeader)) {
    return work->diagnostics.warn("nsight.changes_beside", Place::in(log.string()),
                                  "may hold rows that have not come into the database yet, and is not read: open the "
                                  "database with sqlite3 once (PRAGMA wal_checkpoint)");
  }
  std::filesystem::path journal = path;
  journal += "-journal";
  if (has_more(journal, kJournalMagic.size())) {
    std::string head(kJournalMagic.size(), '\0');
    std::ifstream(journal, std::ios::binary).read(head.data(), static_cast<std::streamsize>(head.size()));
    if (head == kJournalMagic) {
      return work->diagnostics.warn("nsight.changes_beside", Place::in(journal.string()),
                                    "says that a change of the database was not finished, and is not read: open the "
                                    "database with sqlite3 once, which takes the change back");
    }
  }
  return {};
}

}  // namespace

bool is_sqlite(const Blob& blob) { return blob.size() >= kHeader && blob.starts_with(kMagic); }

bool Row::null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
bool Row::is_text(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_TEXT; }
std::int64_t Row::integer(int column) const { return sqlite3_column_int64(statement_, column); }
double Row::number(int column) const { return sqlite3_column_double(statement_, column); }
std::string_view Row::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  if (text == nullptr) return {};
  return {text, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

void Database::Close::operator()(sqlite3* database) const { sqlite3_close(database); }

Error Database::broken(std::string_view doing) const {
  return Error(fmt::format("{}: SQLite says '{}'", doing, sqlite3_errmsg(handle_.get())), Place::in(blob_.name()))
      .hint("the database is damaged or was not written to its end; export it again (nsys export --type sqlite)");
}

Result<Database> Database::open(const Blob& blob, const Work& work) {
  if (!is_sqlite(blob)) return Error("is no SQLite database", blob.place());
  FATHOM_CHECK(tell_changes_beside(std::string(blob.name()), work));
  Database database;
  FATHOM_TRY(database.blob_, without_log(blob, work, database.memory_));
  sqlite3* handle = nullptr;
  const int opened = sqlite3_open_v2(":memory:", &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  database.handle_.reset(handle);
  if (opened != SQLITE_OK) return Error("SQLite cannot be started", blob.place());
  // Nothing that the file says is to be run or believed beyond its tables.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kLongestValue);
  sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_exec(handle, "PRAGMA cell_size_check = ON", nullptr, nullptr, nullptr);
  // SQLite takes a pointer to what it might write to; read-only it does not.
  auto* bytes = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(database.blob_.bytes().data()));
  const auto size = static_cast<sqlite3_int64>(database.blob_.size());
  if (sqlite3_deserialize(handle, "main", bytes, size, size, SQLITE_DESERIALIZE_READONLY) != SQLITE_OK) {
    return database.broken("opening the database");
  }
  auto listed = database.query("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0", kShortQuery,
                               [&](const Row& row) -> Result<void> {
                                 database.tables_.emplace_back(row.text(0));
                                 return {};
                               });
  if (!listed) return std::move(listed).error().with("reading the list of tables");
  return database;
}

Result<void> Database::query(const std::string& sql, std::uint64_t most_steps,
                             const std::function<Result<void>(const Row&)>& each) const {
  sqlite3_stmt* raw = nullptr;
  if (sqlite3_prepare_v2(handle_.get(), sql.c_str(), -1, &raw, nullptr) != SQLITE_OK) {
    sqlite3_finalize(raw);
    return broken("reading the database");
  }
  const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement(raw, sqlite3_finalize);
  std::uint64_t looks = most_steps / kStepsPerLook + 1;
  sqlite3_progress_handler(
      handle_.get(), kStepsPerLook, [](void* left) -> int { return --*static_cast<std::uint64_t*>(left) == 0 ? 1 : 0; },
      &looks);
  Result<void> result;
  for (;;) {
    const int step = sqlite3_step(raw);
    if (step == SQLITE_DONE) break;
    if (step != SQLITE_ROW) {
      result = broken("reading the database");
      break;
    }
    result = each(Row(raw));
    if (!result) break;
  }
  sqlite3_progress_handler(handle_.get(), 0, nullptr, nullptr);
  return result;
}

bool Database::has(std::string_view table) const {
  return std::find(tables_.begin(), tables_.end(), table) != tables_.end();
}

Result<std::vector<std::string>> Database::columns(std::string_view table) const {
  std::vector<std::string> names;
  FATHOM_CHECK(query("PRAGMA table_info(" + sql_name(table) + ")", kShortQuery, [&](const Row& row) -> Result<void> {
    names.emplace_back(row.text(1));
    return {};
  }));
  return names;
}

Result<void> Database::rows(std::string_view table, const std::vector<std::string>& columns,
                            const std::function<Result<void>(const Row&)>& each, std::string_view order) const {
  if (!has(table)) return {};
  FATHOM_TRY(const auto known, this->columns(table));
  std::string sql = "SELECT ";
  for (const std::string& column : columns) {
    if (sql.size() > 7) sql += ", ";
    sql += std::find(known.begin(), known.end(), column) == known.end() ? "NULL" : sql_name(column);
  }
  sql += " FROM " + sql_name(table);
  if (!order.empty()) sql += " ORDER BY " + std::string(order);
  // A row takes at least two bytes of the file and a text as many as it has. Pages that are pointed to many times over
  // would give more. (Twice, because UTF-16 can become longer as UTF-8.)
  const std::uint64_t bytes = blob_.size();
  std::uint64_t used = 0;
  const auto count = static_cast<int>(columns.size());
  auto status = query(sql, bytes * 64 + kShortQuery, [&](const Row& row) -> Result<void> {
    used += 2;
    for (int c = 0; c < count; ++c) {
      if (row.is_text(c)) used += row.text(c).size();
    }
    if (used > 2 * bytes) return Error("holds more rows than the file has room for", Place::in(blob_.name()));
    return each(row);
  });
  if (!status) return std::move(status).error().with(fmt::format("table {}", table));
  return {};
}

std::optional<std::int64_t> Database::one_number(std::string_view relation, std::string_view column) const {
  std::optional<std::int64_t> found;
  (void)query("SELECT " + sql_name(column) + " FROM " + sql_name(relation) + " LIMIT 1", kShortQuery,
              [&](const Row& row) -> Result<void> {
                if (!row.null(0) && !row.is_text(0)) found = row.integer(0);
                return {};
              });
  return found;
}

Result<std::vector<std::string>> Database::defects() const {
  std::vector<std::string> found;
  FATHOM_CHECK(
      query("PRAGMA integrity_check(100)", blob_.size() * 64 + kShortQuery, [&](const Row& row) -> Result<void> {
        if (row.text(0) != "ok") found.emplace_back(row.text(0));
        return {};
      }));
  return found;
}

}  // namespace fathom::nsight
