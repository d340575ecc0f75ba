// Tables of a dataset: typed columns that are read batch by batch, with the columns and bounds that are wanted.
//
//   auto table = dataset->table("value", {.metrics = {"time"}});
//   auto scan = table->scan({"context", "value"});
//   fathom::api::Batch batch;
//   for (auto more = scan->next(batch); more && *more; more = scan->next(batch)) {
//     for (std::size_t row = 0; row < batch.rows(); ++row) sum += batch.real(1, row);
//   }
//
// What outlives what: a table, a scan and a batch keep everything that they need alive; pointers that a batch hands out
// live as long as this batch or a copy of it.
#pragma once

#include <fathom/export.h>

#include <cstddef>
#include <cstdint>
#include <fathom/error.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct ArrowArrayStream;

namespace fathom::api {

enum class ColumnType : std::uint8_t { boolean, int64, uint64, int128, float64, text };

struct ColumnInfo {
  std::string name;
  ColumnType type = ColumnType::text;
  std::string unit;   // "s", "bytes", "ns"; empty = none
  std::string title;  // for people; empty = the name
};

// Which part of a table; a bound that the table does not know is an error.
struct Bounds {
  std::optional<std::int64_t> from_ns = {};  // events, messages: not before
  std::optional<std::int64_t> to_ns = {};    // and before
  std::vector<std::string> locations = {};   // ids as the file uses them, or patterns with * and ?
  std::vector<std::string> metrics = {};     // unique names, or patterns
  std::vector<std::string> contexts = {};    // ids as the file uses them: 3, 5-10, roots, leaves, level<2
  std::string flavour = {};                  // values: inclusive, exclusive, or a scope of the format; "" = as stored
};

// Rows of the columns that a scan was asked for. Cheap to copy. MT: safe (const).
class FATHOM_API Batch {
 public:
  Batch();
  ~Batch();
  Batch(const Batch&);
  Batch(Batch&&) noexcept;
  Batch& operator=(const Batch&);
  Batch& operator=(Batch&&) noexcept;

  [[nodiscard]] std::size_t rows() const;
  [[nodiscard]] std::size_t columns() const;
  [[nodiscard]] ColumnType type(std::size_t column) const;
  [[nodiscard]] bool is_null(std::size_t column, std::size_t row) const;
  // Any number as a double; NaN where there is none.
  [[nodiscard]] double real(std::size_t column, std::size_t row) const;
  // Empty where there is none. Numbers have no text.
  [[nodiscard]] std::string_view text(std::size_t column, std::size_t row) const;
  // The values as they lie in memory; empty when the column is of another type.
  [[nodiscard]] std::span<const std::int64_t> integers(std::size_t column) const;
  [[nodiscard]] std::span<const std::uint64_t> naturals(std::size_t column) const;
  [[nodiscard]] std::span<const double> reals(std::size_t column) const;
  // Texts as codes into a list of them.
  [[nodiscard]] std::span<const std::uint32_t> codes(std::size_t column) const;
  [[nodiscard]] std::span<const std::string> dictionary(std::size_t column) const;

 private:
  friend class Scan;
  struct State;
  std::shared_ptr<const State> state_;
};

// Batches one after the other. MT: externally synchronised; different scans are independent.
class FATHOM_API Scan {
 public:
  Scan(Scan&&) noexcept;
  Scan& operator=(Scan&&) noexcept;
  ~Scan();
  // False at the end, when the batch is empty.
  Result<bool> next(Batch& batch);

 private:
  friend class Table;
  struct State;
  explicit Scan(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// MT: safe (const).
class FATHOM_API Table {
 public:
  struct State;
  explicit Table(std::shared_ptr<const State> state);
  ~Table();
  Table(const Table&);
  Table(Table&&) noexcept;
  Table& operator=(const Table&);
  Table& operator=(Table&&) noexcept;

  [[nodiscard]] std::string_view name() const;
  [[nodiscard]] std::span<const ColumnInfo> columns() const;
  // Where it is known without reading.
  [[nodiscard]] std::optional<std::uint64_t> row_count() const;
  // Pieces that can be scanned on their own, one after the other the whole table.
  [[nodiscard]] std::size_t parts() const;

  // Columns by name, in this order; none = all. All parts, or one of them.
  [[nodiscard]] Result<Scan> scan(const std::vector<std::string>& columns = {},
                                  std::optional<std::size_t> part = std::nullopt, std::size_t batch_rows = 65536) const;
  // The same in the Arrow C data interface; `out` is released by whoever takes it.
  Result<void> stream(ArrowArrayStream* out, const std::vector<std::string>& columns = {},
                      std::optional<std::size_t> part = std::nullopt, std::size_t batch_rows = 65536) const;

 private:
  std::shared_ptr<const State> state_;
};

}  // namespace fathom::api
