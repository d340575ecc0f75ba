#include "cli/analysis_output.hpp"

#include <fmt/format.h>

#include "cli/sheet.hpp"
#include "report/text_table.hpp"

namespace fathom::cli {

namespace {

std::string exact(const Column& column, std::size_t row) {
  if (column.is_null(row)) return {};
  switch (column.type()) {
    case ColumnType::text:
      return std::string(column.text(row));
    case ColumnType::uint64:
      return std::to_string(column.values<std::uint64_t>()[row]);
    case ColumnType::int64:
      return std::to_string(column.values<std::int64_t>()[row]);
    default:
      return exact_text(column.real(row));
  }
}

}  // namespace

void print_table(Session& session, const Table& table, bool all_shares) {
  const auto& columns = table.schema.columns;
  if (session.csv() || session.json()) {
    std::vector<Sheet::Column> sheet_columns;
    for (const ColumnSpec& column : columns) sheet_columns.push_back({column.name, column.type != ColumnType::text});
    Sheet sheet(std::move(sheet_columns));
    for (std::size_t row = 0; row < table.rows(); ++row) {
      std::vector<std::string> cells;
      for (const Column& column : table.data.columns) cells.push_back(exact(column, row));
      sheet.row(std::move(cells));
    }
    sheet.print(session, table.schema.name);
    return;
  }
  TextTable text;
  for (const ColumnSpec& column : columns) {
    std::string title = column.name.ends_with("_s") ? column.name.substr(0, column.name.size() - 2) : column.name;
    for (char& c : title) c = c == '_' ? ' ' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    text.column(std::move(title), column.type == ColumnType::text ? Align::left : Align::right,
                column.type == ColumnType::text);
  }
  for (std::size_t row = 0; row < table.rows(); ++row) {
    std::vector<Cell> cells;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const Column& column = table.data.columns[c];
      const bool number = columns[c].type == ColumnType::float64 && !column.is_null(row);
      if (number && columns[c].unit == "s") {
        cells.emplace_back(readable(column.real(row), "sec"));
      } else if (number && (columns[c].name == "share" || (all_shares && columns[c].name != "speedup"))) {
        cells.emplace_back(fmt::format("{:.1f}%", column.real(row) * 100));
      } else if (number) {
        cells.emplace_back(fmt::format("{:.3g}", column.real(row)));
      } else {
        cells.emplace_back(exact(column, row));
      }
    }
    text.row(std::move(cells));
  }
  session.out().write(text.text(session.terminal()));
}

}  // namespace fathom::cli
