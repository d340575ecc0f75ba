// A table of typed columns: what views, statistics, rankings, comparisons and findings return, and the one shape in
// which anything leaves the program (text, CSV, JSON, SQL, Parquet, Python, the viewer).
//
// A small table stands in memory (Table, made by TableBuilder). A large one is a TableSource: it is read in parts,
// batch by batch, with the columns that are wanted, and never stands in memory as a whole.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/number.hpp"
#include "base/result.hpp"

namespace fathom {

enum class ColumnType : std::uint8_t {
  boolean,  // one byte each
  int64,
  uint64,
  int128,  // sums of counters
  float64,
  seconds,    // int64 nanoseconds, in text forms seconds with nine decimals: exact
  text,       // 32-bit codes into a dictionary
  free_text,  // texts that hardly repeat: 64-bit offsets into bytes
};
std::string_view to_string(ColumnType type);
constexpr bool is_text(ColumnType type) { return type == ColumnType::text || type == ColumnType::free_text; }

struct ColumnSpec {
  std::string name;  // stable, for machines: "wall_s"
  ColumnType type = ColumnType::text;
  std::string unit = {};   // as definitions spell it: "s", "bytes", "ns"; empty = none
  std::string title = {};  // for people; empty = the name
};

struct Schema {
  std::string name;  // of the table: "calls", "matrix", "event"
  std::vector<ColumnSpec> columns;

  [[nodiscard]] std::optional<std::size_t> find(std::string_view column) const;
};

// Texts by code. Shared by all batches of a scan that use the same definitions.
using Dictionary = std::shared_ptr<const std::vector<std::string>>;

// The values of one column in one batch. Cheap to copy: values are shared, not copied. In a batch a numeric column may
// be of another numeric type than the schema says (counters of one metric among doubles of others): text forms print
// what is there, so that integers stay exact; columnar ones convert to the type of the schema.
// MT: safe (const).
class Column {
 public:
  Column() = default;
  // A value per row, owned.
  static Column booleans(std::vector<std::uint8_t> values);
  static Column integers(std::vector<std::int64_t> values);
  static Column naturals(std::vector<std::uint64_t> values);
  static Column sums(std::vector<Int128> values);
  static Column reals(std::vector<double> values);
  static Column seconds(std::vector<std::int64_t> nanoseconds);
  static Column texts(std::vector<std::uint32_t> codes, Dictionary dictionary);
  // Text i is bytes[offsets[i], offsets[i + 1]): one offset more than there are rows.
  static Column free_texts(std::vector<std::int64_t> offsets, std::string bytes);
  // Values that somebody else keeps alive: a memory map, a level. `data` has `rows` values of the type.
  static Column view(ColumnType type, const void* data, std::size_t rows, std::shared_ptr<const void> owner,
                     Dictionary dictionary = nullptr);
  // The same column with some rows empty: bit i of word i / 64 is set where there is a value (Arrow's order).
  [[nodiscard]] Column with_validity(std::vector<std::uint64_t> bits) &&;

  [[nodiscard]] ColumnType type() const { return type_; }
  [[nodiscard]] std::size_t size() const { return rows_; }
  // T is the type's own: uint8_t, int64_t (also of seconds), uint64_t, Int128, double; uint32_t codes of texts.
  template <class T>
  [[nodiscard]] std::span<const T> values() const {
    return {static_cast<const T*>(data_), rows_};
  }
  [[nodiscard]] const void* data() const { return data_; }
  // Empty when every row has a value.
  [[nodiscard]] std::span<const std::uint64_t> validity() const {
    return validity_ ? std::span<const std::uint64_t>(*validity_) : std::span<const std::uint64_t>{};
  }
  [[nodiscard]] bool is_null(std::size_t row) const {
    return validity_ != nullptr && ((*validity_)[row / 64] >> (row % 64) & 1) == 0;
  }
  // Of both kinds of texts.
  [[nodiscard]] std::string_view text(std::size_t row) const {
    if (type_ == ColumnType::text) return (*dictionary_)[values<std::uint32_t>()[row]];
    const auto* at = static_cast<const std::int64_t*>(data_) + row;
    return {bytes_ + at[0], static_cast<std::size_t>(at[1] - at[0])};
  }
  // Of free texts: size() + 1 of them, and where the first of all texts begins.
  [[nodiscard]] std::span<const std::int64_t> offsets() const {
    return {static_cast<const std::int64_t*>(data_), rows_ + 1};
  }
  [[nodiscard]] const char* bytes() const { return bytes_; }
  // Any numeric type as a double (seconds in seconds); NaN where there is no value.
  [[nodiscard]] double real(std::size_t row) const;
  [[nodiscard]] const Dictionary& dictionary() const { return dictionary_; }
  [[nodiscard]] const std::shared_ptr<const void>& owner() const { return owner_; }

 private:
  ColumnType type_ = ColumnType::float64;
  std::size_t rows_ = 0;
  const void* data_ = nullptr;
  const char* bytes_ = nullptr;
  std::shared_ptr<const void> owner_;
  std::shared_ptr<const std::vector<std::uint64_t>> validity_;
  Dictionary dictionary_;
};

// Rows of some columns of a table; which ones the scan was asked for.
struct Batch {
  std::size_t rows = 0;
  std::vector<Column> columns;
};

// A table in memory.
struct Table {
  Schema schema;
  Batch data;

  [[nodiscard]] std::size_t rows() const { return data.rows; }
  // By name; it must be there.
  [[nodiscard]] const Column& column(std::string_view name) const;
};

// Nothing in this row and column.
struct Missing {};
inline constexpr Missing kMissing{};

// Makes a table row by row: builder.row("MPI_Send", 12U, 0.5, kMissing). Texts are coded as they come.
class TableBuilder {
 public:
  using Cell = std::variant<Missing, bool, std::int64_t, std::uint64_t, Int128, double, std::string_view>;

  explicit TableBuilder(Schema schema);

  // One cell per column, of the column's type; integers of the other signedness are taken where they fit.
  void add(std::span<const Cell> cells);
  template <class... Cells>
  void row(const Cells&... cells) {
    const Cell list[] = {cell(cells)...};
    add(list);
  }
  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] Table finish() &&;

 private:
  struct Growing;
  template <class T>
  static Cell cell(const T& value) {
    if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, Missing> || std::is_same_v<T, Int128> ||
                  std::is_same_v<T, Cell>) {
      return Cell(value);
    } else if constexpr (std::is_floating_point_v<T>) {
      return Cell(static_cast<double>(value));
    } else if constexpr (std::is_integral_v<T>) {
      if constexpr (std::is_signed_v<T>) {
        return Cell(static_cast<std::int64_t>(value));
      } else {
        return Cell(static_cast<std::uint64_t>(value));
      }
    } else if constexpr (requires { value.has_value(); }) {
      return value.has_value() ? cell(*value) : Cell(Missing{});
    } else {
      return Cell(std::string_view(value));
    }
  }

  Schema schema_;
  std::vector<std::shared_ptr<Growing>> columns_;
  std::size_t rows_ = 0;
};

// What a scan is to deliver.
struct ScanRequest {
  std::vector<std::size_t> columns;  // positions in the schema, in the order wanted; empty = all
  std::size_t batch_rows = 65536;    // a batch has at most that many rows
};

// Makes the columns of rows that a reader has gone past. MT: different ones are independent, also of their reader.
using BatchMaker = std::function<Result<Batch>()>;

// Batches of one part, one after the other. MT: externally synchronised; readers of different parts are independent.
class BatchReader {
 public:
  virtual ~BatchReader() = default;
  // False at the end, when `batch` is left empty. Columns of a batch live as long as the columns themselves.
  virtual Result<bool> next(Batch& batch) = 0;
  // The same in two steps, for whoever has several threads: what must happen in order (merging events by time) now,
  // what need not (their columns) when the maker is called. False at the end.
  virtual Result<bool> prepare(BatchMaker& maker);
};

// A table that is read in place. It must not outlive the dataset that it shows. MT: every const method is safe.
class TableSource {
 public:
  virtual ~TableSource() = default;
  [[nodiscard]] virtual const Schema& schema() const = 0;
  // Where it is known without reading.
  [[nodiscard]] virtual std::optional<std::uint64_t> row_count() const { return std::nullopt; }
  // Independent pieces, which one after the other are the table in its order.
  [[nodiscard]] virtual std::size_t parts() const = 0;
  [[nodiscard]] virtual Result<std::unique_ptr<BatchReader>> open(std::size_t part,
                                                                  const ScanRequest& request) const = 0;
};

// A table in memory as a source of one part.
std::unique_ptr<TableSource> source_of(Table table);
// Everything into memory; for tables that are known to be small.
Result<Table> read_all(const TableSource& source, const ScanRequest& request = {});

}  // namespace fathom
