#include "cli/sql_output.hpp"

#include <fmt/format.h>

#include <functional>

#include "base/number.hpp"
#include "io/output_file.hpp"
#include "report/csv.hpp"
#include "report/json.hpp"
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
      return std::to_string(column.values<std::int64_t>()[row]);
    case ColumnType::uint64:
      return std::to_string(column.values<std::uint64_t>()[row]);
    case ColumnType::int128:
      return exact_text(column.values<Int128>()[row]);
    case ColumnType::float64:
      return exact_text(column.values<double>()[row]);
    case ColumnType::text:
      return std::string(column.text(row));
  }
  return {};
}

void json_cell(JsonWriter& json, const Column& column, std::size_t row) {
  if (column.is_null(row)) {
    json.value(nullptr);
  } else if (column.type() == ColumnType::text) {
    json.value(column.text(row));
  } else if (column.type() == ColumnType::float64) {
    json.value(column.values<double>()[row]);
  } else {
    json.raw(cell_text(column, row));
  }
}

Result<void> write_csv(Output& out, const TableSource& source) {
  CsvWriter csv(out);
  for (const ColumnSpec& column : source.schema().columns) csv.field(column.name);
  csv.end_row();
  return each_batch(source, out, [&](const Batch& batch) -> Result<void> {
    for (std::size_t row = 0; row < batch.rows; ++row) {
      for (const Column& column : batch.columns) csv.field(cell_text(column, row));
      csv.end_row();
    }
    return {};
  });
}

Result<void> write_json(Output& out, const TableSource& source) {
  JsonWriter json(out);
  json.begin_array();
  FATHOM_CHECK(each_batch(source, out, [&](const Batch& batch) -> Result<void> {
    for (std::size_t row = 0; row < batch.rows; ++row) {
      json.begin_object();
      for (std::size_t i = 0; i < batch.columns.size(); ++i) {
        json.key(source.schema().columns[i].name);
        json_cell(json, batch.columns[i], row);
      }
      json.end_object();
    }
    return {};
  }));
  json.end_array();
  return {};
}

std::string markdown_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

Result<void> write_markdown(Output& out, const TableSource& source) {
  std::string line = "|";
  std::string rule = "|";
  for (const ColumnSpec& column : source.schema().columns) {
    line += fmt::format(" {} |", markdown_text(column.name));
    rule += column.type == ColumnType::text ? "---|" : "---:|";
  }
  out.write(line + "\n" + rule + "\n");
  return each_batch(source, out, [&](const Batch& batch) -> Result<void> {
    for (std::size_t row = 0; row < batch.rows; ++row) {
      line = "|";
      for (const Column& column : batch.columns) line += fmt::format(" {} |", markdown_text(cell_text(column, row)));
      out.write(line + "\n");
    }
    return {};
  });
}

// Rows that are aligned together: enough for a person, bounded for a machine.
constexpr std::size_t kAligned = 10000;

Result<void> write_text(Output& out, const Terminal& terminal, const TableSource& source) {
  const auto fresh = [&](bool titles) {
    TextTable table;
    for (const ColumnSpec& column : source.schema().columns) {
      const bool text = column.type == ColumnType::text;
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
      return write_csv(out, rows);
    case SqlForm::json:
      return write_json(out, rows);
    case SqlForm::markdown:
      return write_markdown(out, rows);
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
  FATHOM_CHECK(ending == ".csv" ? write_csv(text, rows) : write_json(text, rows));
  return write_file(target, text.text());
}

}  // namespace fathom::cli
