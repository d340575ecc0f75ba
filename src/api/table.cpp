#include "fathom/table.hpp"

#include <fmt/format.h>

#include "api/arrow.hpp"
#include "api/state.hpp"
#include "base/text.hpp"

namespace fathom::api {

namespace {

ColumnType public_type(fathom::ColumnType type) {
  switch (type) {
    case fathom::ColumnType::boolean:
      return ColumnType::boolean;
    case fathom::ColumnType::int64:
    case fathom::ColumnType::seconds:
      return ColumnType::int64;
    case fathom::ColumnType::uint64:
      return ColumnType::uint64;
    case fathom::ColumnType::int128:
      return ColumnType::int128;
    case fathom::ColumnType::float64:
      return ColumnType::float64;
    case fathom::ColumnType::text:
    case fathom::ColumnType::free_text:
      return ColumnType::text;
  }
  return ColumnType::text;
}

}  // namespace

struct Batch::State {
  fathom::Batch batch;
};

struct Scan::State {
  std::shared_ptr<const Table::State> table;
  ScanRequest request;
  std::size_t part = 0;
  std::size_t end = 0;
  std::unique_ptr<BatchReader> reader;
};

Batch::Batch() = default;
Batch::~Batch() = default;
Batch::Batch(const Batch&) = default;
Batch::Batch(Batch&&) noexcept = default;
Batch& Batch::operator=(const Batch&) = default;
Batch& Batch::operator=(Batch&&) noexcept = default;

std::size_t Batch::rows() const { return state_ ? state_->batch.rows : 0; }
std::size_t Batch::columns() const { return state_ ? state_->batch.columns.size() : 0; }
ColumnType Batch::type(std::size_t column) const { return public_type(state_->batch.columns[column].type()); }
bool Batch::is_null(std::size_t column, std::size_t row) const { return state_->batch.columns[column].is_null(row); }
double Batch::real(std::size_t column, std::size_t row) const { return state_->batch.columns[column].real(row); }

std::string_view Batch::text(std::size_t column, std::size_t row) const {
  const Column& one = state_->batch.columns[column];
  if (one.type() != fathom::ColumnType::text || one.is_null(row)) return {};
  return one.text(row);
}

std::span<const std::int64_t> Batch::integers(std::size_t column) const {
  const Column& one = state_->batch.columns[column];
  return one.type() == fathom::ColumnType::int64 ? one.values<std::int64_t>() : std::span<const std::int64_t>();
}
std::span<const std::uint64_t> Batch::naturals(std::size_t column) const {
  const Column& one = state_->batch.columns[column];
  return one.type() == fathom::ColumnType::uint64 ? one.values<std::uint64_t>() : std::span<const std::uint64_t>();
}
std::span<const double> Batch::reals(std::size_t column) const {
  const Column& one = state_->batch.columns[column];
  return one.type() == fathom::ColumnType::float64 ? one.values<double>() : std::span<const double>();
}
std::span<const std::uint32_t> Batch::codes(std::size_t column) const {
  const Column& one = state_->batch.columns[column];
  return one.type() == fathom::ColumnType::text ? one.values<std::uint32_t>() : std::span<const std::uint32_t>();
}
std::span<const std::string> Batch::dictionary(std::size_t column) const {
  const Column& one = state_->batch.columns[column];
  return one.dictionary() ? std::span<const std::string>(*one.dictionary()) : std::span<const std::string>();
}

Scan::Scan(std::unique_ptr<State> state) : state_(std::move(state)) {}
Scan::Scan(Scan&&) noexcept = default;
Scan& Scan::operator=(Scan&&) noexcept = default;
Scan::~Scan() = default;

Result<bool> Scan::next(Batch& batch) {
  batch = {};
  return guarded<bool>(*state_->table->dataset, [&]() -> fathom::Result<bool> {
    State& scan = *state_;
    while (true) {
      if (!scan.reader) {
        if (scan.part == scan.end) return false;
        FATHOM_TRY(scan.reader, scan.table->source->open(scan.part++, scan.request));
      }
      auto made = std::make_shared<Batch::State>();
      FATHOM_TRY(const bool more, scan.reader->next(made->batch));
      if (more) {
        batch.state_ = std::move(made);
        return true;
      }
      scan.reader.reset();
    }
  });
}

std::shared_ptr<const Table::State> make_table_state(std::shared_ptr<Dataset::State> dataset,
                                                     std::unique_ptr<TableSource> source) {
  auto state = std::make_shared<Table::State>();
  for (const ColumnSpec& column : source->schema().columns) {
    state->columns.push_back({column.name, public_type(column.type), column.unit, column.title});
  }
  state->dataset = std::move(dataset);
  state->source = std::move(source);
  return state;
}

fathom::Result<ScanRequest> make_request(const Schema& schema, const std::vector<std::string>& columns,
                                         std::size_t batch_rows) {
  ScanRequest request;
  request.batch_rows = batch_rows == 0 ? request.batch_rows : batch_rows;
  for (const std::string& column : columns) {
    const auto at = schema.find(column);
    if (!at) {
      std::vector<std::string> names;
      for (const ColumnSpec& spec : schema.columns) names.push_back(spec.name);
      return fathom::Error::usage(
                 fmt::format("the table '{}' has no column '{}'{}", schema.name, column, did_you_mean(column, names)))
          .hint(fmt::format("columns: {}", fmt::join(names, ", ")));
    }
    request.columns.push_back(*at);
  }
  return request;
}

Table::Table(std::shared_ptr<const State> state) : state_(std::move(state)) {}
Table::~Table() = default;
Table::Table(const Table&) = default;
Table::Table(Table&&) noexcept = default;
Table& Table::operator=(const Table&) = default;
Table& Table::operator=(Table&&) noexcept = default;

std::string_view Table::name() const { return state_->source->schema().name; }
std::span<const ColumnInfo> Table::columns() const { return state_->columns; }
std::optional<std::uint64_t> Table::row_count() const { return state_->source->row_count(); }
std::size_t Table::parts() const { return state_->source->parts(); }

namespace {

fathom::Result<void> check_part(const TableSource& source, std::optional<std::size_t> part) {
  if (!part || *part < source.parts()) return {};
  return fathom::Error::usage(
      fmt::format("the table '{}' has {} parts, there is no part {}", source.schema().name, source.parts(), *part));
}

}  // namespace

Result<Scan> Table::scan(const std::vector<std::string>& columns, std::optional<std::size_t> part,
                         std::size_t batch_rows) const {
  return guarded<Scan>(*state_->dataset, [&]() -> fathom::Result<Scan> {
    FATHOM_CHECK(check_part(*state_->source, part));
    auto scan = std::make_unique<Scan::State>();
    FATHOM_TRY(scan->request, make_request(state_->source->schema(), columns, batch_rows));
    scan->table = state_;
    scan->part = part.value_or(0);
    scan->end = part ? *part + 1 : state_->source->parts();
    return Scan(std::move(scan));
  });
}

Result<void> Table::stream(ArrowArrayStream* out, const std::vector<std::string>& columns,
                           std::optional<std::size_t> part, std::size_t batch_rows) const {
  return guarded<void>(*state_->dataset, [&]() -> fathom::Result<void> {
    FATHOM_CHECK(check_part(*state_->source, part));
    FATHOM_TRY(const ScanRequest request, make_request(state_->source->schema(), columns, batch_rows));
    const std::size_t begin = part.value_or(0);
    export_stream({state_->source, state_->dataset, &state_->dataset->execution, request, begin,
                   part ? begin + 1 : state_->source->parts()},
                  out);
    return {};
  });
}

}  // namespace fathom::api
