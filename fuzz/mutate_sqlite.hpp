// Changes an SQLite database as SQL does, so that its pages stay sound: values, rows, columns and tables.
#pragma once

#include <sqlite3.h>

#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "choices.hpp"

namespace fathom {

class ChangedDatabase {
 public:
  // Nothing where the bytes are no database.
  static std::optional<std::string> of(std::string_view bytes, unsigned seed) {
    sqlite3* handle = nullptr;
    const int opened = sqlite3_open_v2(":memory:", &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
    ChangedDatabase database(handle, seed);
    if (opened != SQLITE_OK || !database.load(bytes)) return std::nullopt;
    database.change();
    return database.save();
  }

 private:
  ChangedDatabase(sqlite3* handle, unsigned seed) : handle_(handle, sqlite3_close), choices_(seed) {
    constexpr int kSteps = 1000;
    // Endless statements are nothing that is to be tried here.
    sqlite3_progress_handler(
        handle, kSteps, [](void* calls) { return ++*static_cast<int*>(calls) > kSteps ? 1 : 0; }, &calls_);
  }

  bool load(std::string_view bytes) {
    const auto size = static_cast<sqlite3_int64>(bytes.size());
    auto* const copy = static_cast<unsigned char*>(sqlite3_malloc64(bytes.size() + 1));
    if (copy == nullptr) return false;
    std::memcpy(copy, bytes.data(), bytes.size());
    return sqlite3_deserialize(handle_.get(), "main", copy, size, size,
                               SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE) == SQLITE_OK &&
           !texts("SELECT name FROM sqlite_master").empty();
  }

  [[nodiscard]] std::optional<std::string> save() const {
    sqlite3_int64 size = 0;
    unsigned char* const bytes = sqlite3_serialize(handle_.get(), "main", &size, 0);
    if (bytes == nullptr) return std::nullopt;
    std::string out(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
    sqlite3_free(bytes);
    return out;
  }

  void run(const std::string& statement) { sqlite3_exec(handle_.get(), statement.c_str(), nullptr, nullptr, nullptr); }

  [[nodiscard]] std::vector<std::string> texts(const std::string& query) const {
    std::vector<std::string> out;
    sqlite3_exec(
        handle_.get(), query.c_str(),
        [](void* list, int, char** values, char**) {
          static_cast<std::vector<std::string>*>(list)->emplace_back(values[0] == nullptr ? "" : values[0]);
          return 0;
        },
        &out, nullptr);
    return out;
  }

  static std::string quoted(const std::string& name) {
    std::string out = "\"";
    for (const char c : name) out += c == '"' ? "\"\"" : std::string(1, c);
    return out + '"';
  }
  template <class List>
  const auto& one_of(const List& list) {
    return list[choices_.below(list.size())];
  }

  // What a column may be set to: the edges of numbers, other types, and what is elsewhere.
  std::string value(const std::string& table, const std::string& column, const std::string& other) {
    static const std::array<std::string, 14> kValues = {"0",
                                                        "1",
                                                        "-1",
                                                        "9223372036854775807",
                                                        "-9223372036854775807-1",
                                                        "4294967296",
                                                        "1e308",
                                                        "9e999",
                                                        "NULL",
                                                        "''",
                                                        "'->'",
                                                        "x'00ff41'",
                                                        "'name'",
                                                        "16777215"};
    switch (choices_.below(6)) {
      case 0:
        return column + "+1";
      case 1:
        return "-" + column;
      case 2:
        return other;
      case 3:
        return "(SELECT " + column + " FROM " + table + " LIMIT 1 OFFSET " + std::to_string(choices_.below(16)) + ")";
      default:
        return one_of(kValues);
    }
  }

  void change() {
    const auto tables = texts("SELECT name FROM sqlite_master WHERE type = 'table'");
    if (tables.empty()) return;
    const std::string name = one_of(tables);
    const std::string table = quoted(name);
    const auto columns = texts("SELECT name FROM pragma_table_info(" + quoted(name) + ")");
    if (columns.empty()) return;
    const std::string column = quoted(one_of(columns));
    const std::string row =
        " WHERE rowid = (SELECT rowid FROM " + table + " LIMIT 1 OFFSET " + std::to_string(choices_.below(16)) + ")";
    switch (choices_.below(16)) {
      case 0:
        return run("DELETE FROM " + table + row);
      case 1:
        return run("DELETE FROM " + table);
      case 2:
        return run("INSERT OR IGNORE INTO " + table + " SELECT * FROM " + table + row);
      case 3:
        return run("ALTER TABLE " + table + " DROP COLUMN " + column);
      case 4:
        return run("ALTER TABLE " + table + " RENAME COLUMN " + column + " TO other");
      case 5:
        return run("DROP TABLE " + table);
      case 6:
        return run("ALTER TABLE " + table + " RENAME TO " + quoted(one_of(tables) + "_"));
      case 7:
        return run("UPDATE OR IGNORE " + table + " SET " + column + " = " +
                   value(table, column, quoted(one_of(columns))));
      default:
        return run("UPDATE OR IGNORE " + table + " SET " + column + " = " +
                   value(table, column, quoted(one_of(columns))) + row);
    }
  }

  int calls_ = 0;
  std::unique_ptr<sqlite3, int (*)(sqlite3*)> handle_;
  Choices choices_;
};

}  // namespace fathom
