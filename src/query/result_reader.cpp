#include "query/result_reader.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "base/cancel.hpp"

namespace fathom::query {

namespace {

// How a column of a result is turned into one of ours.
struct ResultColumn {
  DbTypeId type = kDbVarchar;
  DbTypeId stored = kDbInvalid;  // of decimals and enums
  double scale = 1;              // of decimals
  Dictionary names;              // of enums
};

ColumnType column_type(DbTypeId type) {
  switch (type) {
    case kDbBoolean:
      return ColumnType::boolean;
    case kDbTinyint:
    case kDbSmallint:
    case kDbInteger:
    case kDbBigint:
    case kDbUtinyint:
    case kDbUsmallint:
    case kDbUinteger:
      return ColumnType::int64;
    case kDbUbigint:
      return ColumnType::uint64;
    case kDbHugeint:
      return ColumnType::int128;
    case kDbFloat:
    case kDbDouble:
    case kDbDecimal:
      return ColumnType::float64;
    default:
      return ColumnType::text;
  }
}

struct Shared {
  Shared(const DuckDb& from, DbResult taken, Execution how, std::shared_ptr<const void> kept)
      : api(from), result(taken), execution(std::move(how)), owner(std::move(kept)) {}
  ~Shared() { api.destroy_result(&result); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  const DuckDb& api;
  DbResult result;
  Execution execution;
  std::shared_ptr<const void> owner;
  std::vector<ResultColumn> columns;
  Schema schema;
  std::atomic<bool> opened{false};
};

template <class To, class From>
std::vector<To> numbers(const void* data, std::size_t rows) {
  const auto* from = static_cast<const From*>(data);
  return {from, from + rows};
}

std::vector<std::int64_t> integers(DbTypeId type, const void* data, std::size_t rows) {
  switch (type) {
    case kDbTinyint:
      return numbers<std::int64_t, std::int8_t>(data, rows);
    case kDbSmallint:
      return numbers<std::int64_t, std::int16_t>(data, rows);
    case kDbInteger:
      return numbers<std::int64_t, std::int32_t>(data, rows);
    case kDbUtinyint:
      return numbers<std::int64_t, std::uint8_t>(data, rows);
    case kDbUsmallint:
      return numbers<std::int64_t, std::uint16_t>(data, rows);
    case kDbUinteger:
      return numbers<std::int64_t, std::uint32_t>(data, rows);
    default:
      return numbers<std::int64_t, std::int64_t>(data, rows);
  }
}

Column decimals(const ResultColumn& column, const void* data, std::size_t rows) {
  std::vector<double> out(rows);
  if (column.stored == kDbHugeint) {
    const auto* from = static_cast<const Int128*>(data);
    for (std::size_t i = 0; i < rows; ++i) out[i] = static_cast<double>(from[i]) / column.scale;
  } else {
    const std::vector<std::int64_t> from = integers(column.stored, data, rows);
    for (std::size_t i = 0; i < rows; ++i) out[i] = static_cast<double>(from[i]) / column.scale;
  }
  return Column::reals(std::move(out));
}

Column texts(const void* data, std::size_t rows, const std::uint64_t* validity) {
  const auto* from = static_cast<const DbString*>(data);
  auto words = std::make_shared<std::vector<std::string>>();
  std::vector<std::uint32_t> codes(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    std::string_view text;
    if (validity == nullptr || (validity[i / 64] >> (i % 64) & 1) != 0) {
      const DbString& one = from[i];
      text = {one.length <= DbString::kInlined ? one.prefix : one.pointer, one.length};
    }
    if (words->empty() || words->back() != text) words->emplace_back(text);
    codes[i] = static_cast<std::uint32_t>(words->size() - 1);
  }
  if (words->empty()) words->emplace_back();
  return Column::texts(std::move(codes), std::move(words));
}

class Reader final : public BatchReader {
 public:
  Reader(std::shared_ptr<Shared> shared, std::vector<std::size_t> columns)
      : shared_(std::move(shared)), columns_(std::move(columns)) {}

  Result<bool> next(Batch& batch) override {
    batch = {};
    const ExecutionScope scope(shared_->execution);
    if (cancelled()) return cancelled_error();
    const DuckDb& api = shared_->api;
    DbChunk chunk = api.fetch_chunk(shared_->result);
    if (chunk == nullptr) {
      if (cancelled()) return cancelled_error();
      const char* error = api.result_error(&shared_->result);
      if (error != nullptr && *error != '\0') return Error::usage(error);
      return false;
    }
    batch.rows = api.data_chunk_get_size(chunk);
    for (const std::size_t column : columns_) batch.columns.push_back(make(column, chunk, batch.rows));
    api.destroy_data_chunk(&chunk);
    return batch.rows > 0;
  }

 private:
  Column make(std::size_t position, DbChunk chunk, std::size_t rows) const {
    const DuckDb& api = shared_->api;
    const ResultColumn& column = shared_->columns[position];
    DbVector vector = api.data_chunk_get_vector(chunk, position);
    const void* data = api.vector_get_data(vector);
    const std::uint64_t* validity = api.vector_get_validity(vector);
    Column out;
    switch (column.type) {
      case kDbBoolean:
        out = Column::booleans(numbers<std::uint8_t, std::uint8_t>(data, rows));
        break;
      case kDbUbigint:
        out = Column::naturals(numbers<std::uint64_t, std::uint64_t>(data, rows));
        break;
      case kDbHugeint:
        out = Column::sums(numbers<Int128, Int128>(data, rows));
        break;
      case kDbFloat:
        out = Column::reals(numbers<double, float>(data, rows));
        break;
      case kDbDouble:
        out = Column::reals(numbers<double, double>(data, rows));
        break;
      case kDbDecimal:
        out = decimals(column, data, rows);
        break;
      case kDbEnum: {
        std::vector<std::uint32_t> codes;
        for (const std::int64_t code : integers(column.stored, data, rows)) {
          codes.push_back(static_cast<std::uint32_t>(code) < column.names->size() ? static_cast<std::uint32_t>(code)
                                                                                  : 0);
        }
        out = Column::texts(std::move(codes), column.names);
        break;
      }
      case kDbVarchar:
        out = texts(data, rows, validity);
        break;
      default:
        out = Column::integers(integers(column.type, data, rows));
        break;
    }
    if (validity == nullptr) return out;
    const std::vector<std::uint64_t> bits(validity, validity + (rows + 63) / 64);
    bool all = true;
    for (std::size_t i = 0; i < rows && all; ++i) all = (bits[i / 64] >> (i % 64) & 1) != 0;
    return all ? out : std::move(out).with_validity(bits);
  }

  std::shared_ptr<Shared> shared_;
  std::vector<std::size_t> columns_;
};

class ResultTable final : public TableSource {
 public:
  explicit ResultTable(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
  [[nodiscard]] const Schema& schema() const override { return shared_->schema; }
  [[nodiscard]] std::size_t parts() const override { return 1; }
  [[nodiscard]] Result<std::unique_ptr<BatchReader>> open(std::size_t, const ScanRequest& request) const override {
    if (shared_->opened.exchange(true)) return Error::usage("the result of a query can be read once");
    std::vector<std::size_t> columns = request.columns;
    for (std::size_t i = 0; request.columns.empty() && i < shared_->columns.size(); ++i) columns.push_back(i);
    return std::unique_ptr<BatchReader>(std::make_unique<Reader>(shared_, std::move(columns)));
  }

 private:
  std::shared_ptr<Shared> shared_;
};

}  // namespace

bool is_plain(DbTypeId type) {
  switch (type) {
    case kDbBoolean:
    case kDbTinyint:
    case kDbSmallint:
    case kDbInteger:
    case kDbBigint:
    case kDbUtinyint:
    case kDbUsmallint:
    case kDbUinteger:
    case kDbUbigint:
    case kDbFloat:
    case kDbDouble:
    case kDbHugeint:
    case kDbVarchar:
    case kDbDecimal:
    case kDbEnum:
      return true;
    default:
      return false;
  }
}

std::unique_ptr<TableSource> result_table(const DuckDb& api, DbResult result, Execution execution,
                                          std::shared_ptr<const void> owner) {
  auto shared = std::make_shared<Shared>(api, result, std::move(execution), std::move(owner));
  shared->schema.name = "result";
  for (idx_t i = 0; i < api.column_count(&shared->result); ++i) {
    ResultColumn column;
    DbType type = api.column_logical_type(&shared->result, i);
    column.type = api.get_type_id(type);
    if (column.type == kDbDecimal) {
      column.stored = api.decimal_internal_type(type);
      column.scale = std::pow(10.0, api.decimal_scale(type));
    } else if (column.type == kDbEnum) {
      column.stored = api.enum_internal_type(type);
      auto names = std::make_shared<std::vector<std::string>>();
      for (std::uint32_t k = 0; k < api.enum_dictionary_size(type); ++k) {
        char* name = api.enum_dictionary_value(type, k);
        names->emplace_back(name);
        api.free(name);
      }
      if (names->empty()) names->emplace_back();
      column.names = std::move(names);
    }
    api.destroy_logical_type(&type);
    shared->schema.columns.push_back({api.column_name(&shared->result, i), column_type(column.type)});
    shared->columns.push_back(std::move(column));
  }
  return std::make_unique<ResultTable>(std::move(shared));
}

}  // namespace fathom::query
