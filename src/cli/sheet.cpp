#include "cli/sheet.hpp"

#include "report/csv.hpp"
#include "report/text_table.hpp"

namespace fathom::cli {

void Sheet::print(Session& session, std::string_view key) const {
  if (session.csv()) {
    CsvWriter csv(session.out());
    for (const Column& column : columns_) csv.field(column.name);
    csv.end_row();
    for (const auto& row : rows_) {
      for (const std::string& cell : row) csv.field(cell);
      csv.end_row();
    }
  } else if (session.json()) {
    JsonWriter json(session.out());
    json.begin_object().key(key).begin_array();
    for (const auto& row : rows_) {
      json.begin_object();
      for (std::size_t i = 0; i < columns_.size(); ++i) {
        json.key(columns_[i].name);
        const bool plain = row[i] != "nan" && row[i] != "inf" && row[i] != "-inf" && !row[i].empty();
        if (columns_[i].number && plain) {
          json.raw(row[i]);
        } else {
          json.value(row[i]);
        }
      }
      json.end_object();
    }
    json.end_array();
    session.write_diagnostics(json);
    json.end_object();
  } else {
    TextTable table;
    for (const Column& column : columns_) {
      table.column(column.name, column.number ? Align::right : Align::left, !column.number);
    }
    for (const auto& row : rows_) {
      std::vector<Cell> cells;
      for (const std::string& cell : row) cells.emplace_back(cell);
      table.row(std::move(cells));
    }
    session.out().write(table.text(session.terminal()));
  }
}

}  // namespace fathom::cli
