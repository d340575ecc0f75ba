// A SQLite database in memory, read-only, from a file that nobody vouches for.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/work.hpp"
#include "io/blob.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace fathom::nsight {

bool is_sqlite(const Blob& blob);

// One row of a query; columns count from 0.
class Row {
 public:
  explicit Row(sqlite3_stmt* statement) : statement_(statement) {}
  [[nodiscard]] bool null(int column) const;
  [[nodiscard]] bool is_text(int column) const;
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] double number(int column) const;
  [[nodiscard]] std::string_view text(int column) const;  // until the next row

 private:
  sqlite3_stmt* statement_;
};

class Database {
 public:
  // The bytes are used in place. Journals beside the file are not looked at.
  static Result<Database> open(const Blob& blob, const Work& work);

  // Names of the tables that are stored in the file (no views, no virtual tables), in file order.
  [[nodiscard]] const std::vector<std::string>& tables() const { return tables_; }
  [[nodiscard]] bool has(std::string_view table) const;
  // Names of a table's columns.
  Result<std::vector<std::string>> columns(std::string_view table) const;

  // Every row of a stored table with these columns; columns that the table does not have are null. An absent table has
  // no rows. `order` is an SQL ORDER BY list, or empty.
  Result<void> rows(std::string_view table, const std::vector<std::string>& columns,
                    const std::function<Result<void>(const Row&)>& each, std::string_view order = {}) const;
  // One number from a table or view, whatever it takes up to a bound; nothing when there is none.
  [[nodiscard]] std::optional<std::int64_t> one_number(std::string_view relation, std::string_view column) const;
  // What SQLite itself finds wrong with the file.
  Result<std::vector<std::string>> defects() const;

  [[nodiscard]] const Blob& blob() const { return blob_; }

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  Result<void> query(const std::string& sql, std::uint64_t most_steps,
                     const std::function<Result<void>(const Row&)>& each) const;
  [[nodiscard]] Error broken(std::string_view doing) const;

  Blob blob_;
  Budget::Reservation memory_;
  std::unique_ptr<sqlite3, Close> handle_;
  std::vector<std::string> tables_;
};

}  // namespace fathom::nsight
