#include "base/table.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <unordered_map>

namespace fathom {

std::string_view to_string(ColumnType type) {
  switch (type) {
    case ColumnType::boolean:
      return "boolean";
    case ColumnType::int64:
      return "int64";
    case ColumnType::uint64:
      return "uint64";
    case ColumnType::int128:
      return "int128";
    case ColumnType::float64:
      return "float64";
    case ColumnType::seconds:
      return "seconds";
    case ColumnType::text:
      return "text";
    case ColumnType::free_text:
      return "free_text";
  }
  return "?";
}

std::optional<std::size_t> Schema::find(std::string_view column) const {
  const auto found =
      std::find_if(columns.begin(), columns.end(), [&](const ColumnSpec& spec) { return spec.name == column; });
  if (found == columns.end()) return std::nullopt;
  return static_cast<std::size_t>(found - columns.begin());
}

namespace {

template <class T>
Column owned(ColumnType type, std::vector<T> values, Dictionary dictionary = nullptr) {
  auto kept = std::make_shared<const std::vector<T>>(std::move(values));
  const void* data = kept->data();
  const std::size_t rows = kept->size();
  return Column::view(type, data, rows, std::move(kept), std::move(dictionary));
}

}  // namespace

Column Column::booleans(std::vector<std::uint8_t> values) { return owned(ColumnType::boolean, std::move(values)); }
Column Column::integers(std::vector<std::int64_t> values) { return owned(ColumnType::int64, std::move(values)); }
Column Column::naturals(std::vector<std::uint64_t> values) { return owned(ColumnType::uint64, std::move(values)); }
Column Column::sums(std::vector<Int128> values) { return owned(ColumnType::int128, std::move(values)); }
Column Column::reals(std::vector<double> values) { return owned(ColumnType::float64, std::move(values)); }
Column Column::seconds(std::vector<std::int64_t> nanoseconds) {
  return owned(ColumnType::seconds, std::move(nanoseconds));
}
Column Column::texts(std::vector<std::uint32_t> codes, Dictionary dictionary) {
  return owned(ColumnType::text, std::move(codes), std::move(dictionary));
}

Column Column::free_texts(std::vector<std::int64_t> offsets, std::string bytes) {
  struct Texts {
    std::vector<std::int64_t> offsets;
    std::string bytes;
  };
  auto kept = std::make_shared<const Texts>(Texts{std::move(offsets), std::move(bytes)});
  Column column;
  column.type_ = ColumnType::free_text;
  column.rows_ = kept->offsets.size() - 1;
  column.data_ = kept->offsets.data();
  column.bytes_ = kept->bytes.data();
  column.owner_ = std::move(kept);
  return column;
}

Column Column::view(ColumnType type, const void* data, std::size_t rows, std::shared_ptr<const void> owner,
                    Dictionary dictionary) {
  Column column;
  column.type_ = type;
  column.rows_ = rows;
  column.data_ = data;
  column.owner_ = std::move(owner);
  column.dictionary_ = std::move(dictionary);
  return column;
}

Column Column::with_validity(std::vector<std::uint64_t> bits) && {
  validity_ = std::make_shared<const std::vector<std::uint64_t>>(std::move(bits));
  return std::move(*this);
}

double Column::real(std::size_t row) const {
  if (is_null(row)) return std::numeric_limits<double>::quiet_NaN();
  switch (type_) {
    case ColumnType::boolean:
      return values<std::uint8_t>()[row];
    case ColumnType::int64:
      return static_cast<double>(values<std::int64_t>()[row]);
    case ColumnType::uint64:
      return static_cast<double>(values<std::uint64_t>()[row]);
    case ColumnType::int128:
      return static_cast<double>(values<Int128>()[row]);
    case ColumnType::float64:
      return values<double>()[row];
    case ColumnType::seconds:
      return static_cast<double>(values<std::int64_t>()[row]) * 1e-9;
    case ColumnType::text:
    case ColumnType::free_text:
      break;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

const Column& Table::column(std::string_view name) const {
  const auto at = schema.find(name);
  assert(at);
  return data.columns[*at];
}

// A column while it grows. Validity is only kept once a row is empty.
struct TableBuilder::Growing {
  ColumnType type;
  std::vector<std::uint8_t> booleans;
  std::vector<std::int64_t> integers;
  std::vector<std::uint64_t> naturals;
  std::vector<Int128> sums;
  std::vector<double> reals;
  std::vector<std::uint32_t> codes;
  std::vector<std::string> texts;
  std::vector<std::int64_t> offsets = {0};
  std::string bytes;
  std::unordered_map<std::string, std::uint32_t> code_of;
  std::vector<std::uint64_t> validity;
  bool any_missing = false;

  void add(const Cell& cell, std::size_t row) {
    if (row % 64 == 0) validity.push_back(0);
    const bool missing = std::holds_alternative<Missing>(cell);
    if (!missing) validity[row / 64] |= std::uint64_t{1} << (row % 64);
    any_missing = any_missing || missing;
    switch (type) {
      case ColumnType::boolean:
        booleans.push_back(static_cast<std::uint8_t>(missing ? 0 : number<Int128>(cell) != 0));
        break;
      case ColumnType::int64:
      case ColumnType::seconds:
        integers.push_back(missing ? 0 : number<std::int64_t>(cell));
        break;
      case ColumnType::uint64:
        naturals.push_back(missing ? 0 : number<std::uint64_t>(cell));
        break;
      case ColumnType::int128:
        sums.push_back(missing ? 0 : number<Int128>(cell));
        break;
      case ColumnType::float64:
        reals.push_back(missing ? 0 : number<double>(cell));
        break;
      case ColumnType::text:
        codes.push_back(missing ? code("") : code(std::get<std::string_view>(cell)));
        break;
      case ColumnType::free_text:
        if (!missing) bytes += std::get<std::string_view>(cell);
        offsets.push_back(static_cast<std::int64_t>(bytes.size()));
        break;
    }
  }

  template <class T>
  static T number(const Cell& cell) {
    return std::visit(
        [](const auto& value) -> T {
          using Given = std::decay_t<decltype(value)>;
          if constexpr (std::is_same_v<Given, Missing> || std::is_same_v<Given, std::string_view>) {
            assert(false);  // a cell of another type than its column
            return T{};
          } else {
            return static_cast<T>(value);
          }
        },
        cell);
  }

  std::uint32_t code(std::string_view text) {
    const auto [found, fresh] = code_of.try_emplace(std::string(text), static_cast<std::uint32_t>(texts.size()));
    if (fresh) texts.emplace_back(text);
    return found->second;
  }

  Column finish() {
    Column column;
    switch (type) {
      case ColumnType::boolean:
        column = Column::booleans(std::move(booleans));
        break;
      case ColumnType::int64:
        column = Column::integers(std::move(integers));
        break;
      case ColumnType::seconds:
        column = Column::seconds(std::move(integers));
        break;
      case ColumnType::uint64:
        column = Column::naturals(std::move(naturals));
        break;
      case ColumnType::int128:
        column = Column::sums(std::move(sums));
        break;
      case ColumnType::float64:
        column = Column::reals(std::move(reals));
        break;
      case ColumnType::text:
        column = Column::texts(std::move(codes), std::make_shared<const std::vector<std::string>>(std::move(texts)));
        break;
      case ColumnType::free_text:
        column = Column::free_texts(std::move(offsets), std::move(bytes));
        break;
    }
    return any_missing ? std::move(column).with_validity(std::move(validity)) : column;
  }
};

TableBuilder::TableBuilder(Schema schema) : schema_(std::move(schema)) {
  for (const ColumnSpec& spec : schema_.columns) {
    columns_.push_back(std::make_shared<Growing>());
    columns_.back()->type = spec.type;
  }
}

void TableBuilder::add(std::span<const Cell> cells) {
  assert(cells.size() == columns_.size());
  for (std::size_t i = 0; i < cells.size(); ++i) columns_[i]->add(cells[i], rows_);
  ++rows_;
}

Result<bool> BatchReader::prepare(BatchMaker& maker) {
  auto batch = std::make_shared<Batch>();
  FATHOM_TRY(const bool more, next(*batch));
  maker = [batch]() -> Result<Batch> { return std::move(*batch); };
  return more;
}

Table TableBuilder::finish() && {
  Table table{std::move(schema_), {rows_, {}}};
  for (const auto& column : columns_) table.data.columns.push_back(column->finish());
  return table;
}

namespace {

Batch chosen(const Batch& all, const ScanRequest& request) {
  if (request.columns.empty()) return all;
  Batch batch{all.rows, {}};
  for (const std::size_t column : request.columns) batch.columns.push_back(all.columns[column]);
  return batch;
}

class OneBatch final : public BatchReader {
 public:
  explicit OneBatch(Batch batch) : batch_(std::move(batch)) {}
  Result<bool> next(Batch& batch) override {
    if (given_ || batch_.rows == 0) {
      batch = {};
      return false;
    }
    given_ = true;
    batch = std::move(batch_);
    return true;
  }

 private:
  Batch batch_;
  bool given_ = false;
};

// A table in memory is one batch, whatever size was asked for: cutting it would gain nothing.
class InMemory final : public TableSource {
 public:
  explicit InMemory(Table table) : table_(std::move(table)) {}
  [[nodiscard]] const Schema& schema() const override { return table_.schema; }
  [[nodiscard]] std::optional<std::uint64_t> row_count() const override { return table_.rows(); }
  [[nodiscard]] std::size_t parts() const override { return 1; }
  [[nodiscard]] Result<std::unique_ptr<BatchReader>> open(std::size_t, const ScanRequest& request) const override {
    return std::unique_ptr<BatchReader>(std::make_unique<OneBatch>(chosen(table_.data, request)));
  }

 private:
  Table table_;
};

}  // namespace

std::unique_ptr<TableSource> source_of(Table table) { return std::make_unique<InMemory>(std::move(table)); }

Result<Table> read_all(const TableSource& source, const ScanRequest& request) {
  Schema schema{source.schema().name, {}};
  if (request.columns.empty()) {
    schema.columns = source.schema().columns;
  } else {
    for (const std::size_t column : request.columns) schema.columns.push_back(source.schema().columns[column]);
  }
  TableBuilder builder(std::move(schema));
  std::vector<TableBuilder::Cell> cells;
  for (std::size_t part = 0; part < source.parts(); ++part) {
    FATHOM_TRY(const auto reader, source.open(part, request));
    for (Batch batch;;) {
      FATHOM_TRY(const bool more, reader->next(batch));
      if (!more) break;
      for (std::size_t row = 0; row < batch.rows; ++row) {
        cells.clear();
        for (const Column& column : batch.columns) {
          if (column.is_null(row)) {
            cells.emplace_back(Missing{});
            continue;
          }
          switch (column.type()) {
            case ColumnType::boolean:
              cells.emplace_back(column.values<std::uint8_t>()[row] != 0);
              break;
            case ColumnType::int64:
            case ColumnType::seconds:
              cells.emplace_back(column.values<std::int64_t>()[row]);
              break;
            case ColumnType::uint64:
              cells.emplace_back(column.values<std::uint64_t>()[row]);
              break;
            case ColumnType::int128:
              cells.emplace_back(column.values<Int128>()[row]);
              break;
            case ColumnType::float64:
              cells.emplace_back(column.values<double>()[row]);
              break;
            case ColumnType::text:
            case ColumnType::free_text:
              cells.emplace_back(column.text(row));
              break;
          }
        }
        builder.add(cells);
      }
    }
  }
  return std::move(builder).finish();
}

}  // namespace fathom
