#include "cli/sql_output.hpp"

#include <fmt/format.h>

#include <functional>

#include "base/number.hpp"
#include "io/output_file.hpp"
#include "report/table_output.hpp"
#include "report/text_table.hpp"

namespace fathom::cli {

namespace {

using Rows = std::function<Result<void>(const Batch&)>;

Result<void> each_batch(const TableSource& source, const Output& out, const Rows& take) {
  for (std::size_t part = 0; part < source.parts(); ++part) {
    FATHOM_TRY(const auto reader, source.open(part, {}));
    for (Batch batch; !out.closed();) {
      FATHOM_TRY(const bool more, reader->next(batch));
      if (!more) break;
      FATHOM_CHECK(take(batch));
    }
  }
  return {};
}

std::string cell_text(const Column& column, std::size_t row) {
  if (column.is_null(row)) return {};
  switch (column.type()) {
    case ColumnType::boolean:
      return column.values<std::uint8_t>()[row] != 0 ? "true" : "false";
    case ColumnType::int64:
    case ColumnType::seconds:
      return std::to_string(column.values<std::int64_t>()[row]);
    case ColumnType::uint64:
      return std::to_string(column.values<std::uint64_t>()[row]);
    case ColumnType::int128:
      return exact_text(column.values<Int128>()[row]);
    case ColumnType::float64:
      return exact_text(column.values<double>()[row]);
    case ColumnType::text:
    case ColumnType::free_text:
      return std::string(column.text(row));
  }
  return {};
}

// Rows that are aligned together: enough for a person, bounded for a machine.
constexpr std::size_t kAligned = 10000;

Result<void> write_text(Output& out, const Terminal& terminal, const TableSource& source) {
  const auto fresh = [&](bool titles) {
    TextTable table;
    for (const ColumnSpec& column : source.schema().columns) {
      const bool text = is_text(column.type);
      table.column(titles ? column.name : "", text ? Align::left : Align::right, text);
    }
    return table;
  };
  TextTable table = fresh(true);
  FATHOM_CHECK(each_batch(source, out, [&](const Batch& batch) -> Result<void> {
    for (std::size_t row = 0; row < batch.rows; ++row) {
      std::vector<Cell> cells;
      for (const Column& column : batch.columns) cells.emplace_back(cell_text(column, row));
      table.row(std::move(cells));
    }
    if (table.rows() >= kAligned) {
      out.write(table.text(terminal));
      table = fresh(false);
    }
    return {};
  }));
  out.write(table.text(terminal));
  return {};
}

}  // namespace

Result<void> write_sql_result(Output& out, const Terminal& terminal, SqlForm form, const TableSource& rows) {
  switch (form) {
    case SqlForm::csv:
      return write_rows(out, RowForm::csv, rows);
    case SqlForm::json:
      return write_rows(out, RowForm::json, rows);
    case SqlForm::markdown: {
      FATHOM_TRY(const Table table, read_all(rows));
      write_markdown(out, table);
      return {};
    }
    case SqlForm::text:
      break;
  }
  return write_text(out, terminal, rows);
}

Result<void> write_sql_file(const TableSource& rows, const std::filesystem::path& target) {
  const std::string ending = target.extension().string();
  if (ending != ".csv" && ending != ".json") {
    return Error::usage(fmt::format("the ending of '{}' says nothing about its form", target.string()))
        .hint("endings: .parquet, .csv, .json");
  }
  Output text;
  FATHOM_CHECK(write_rows(text, ending == ".csv" ? RowForm::csv : RowForm::json, rows));
  return write_file(target, text.text());
}

}  // namespace fathom::cli
