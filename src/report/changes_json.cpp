#include "report/changes_json.hpp"

#include "profile/diff/changes.hpp"

namespace fathom {

namespace {

void write_number(JsonWriter& json, std::string_view key, const Column& column, std::size_t row) {
  json.key(key);
  if (column.is_null(row)) {
    json.value(nullptr);
  } else if (column.type() == ColumnType::int128) {
    json.value(column.values<Int128>()[row]);
  } else {
    json.value(column.real(row));
  }
}

void write_numbers(JsonWriter& json, const Table& table, std::size_t row) {
  for (const std::string_view key : {"before", "after", "change"}) {
    write_number(json, key, exact_or_rounded(table, key, row), row);
  }
  write_number(json, "relative", table.column("relative"), row);
  // Three states: yes, no, not known.
  const Column& significant = table.column("significant");
  json.key("significant");
  if (significant.is_null(row)) {
    json.value(nullptr);
  } else {
    json.value(significant.values<std::uint8_t>()[row] != 0);
  }
}

}  // namespace

void write_changes(JsonWriter& json, const Table& totals, const Table& rows, const ChangesVerdict* verdict) {
  json.key("metrics").begin_array();
  for (std::size_t i = 0; i < totals.rows(); ++i) {
    json.begin_object().member("name", totals.column("metric").text(i));
    json.member("unit", totals.column("unit").text(i));
    write_numbers(json, totals, i);
    if (verdict != nullptr) json.member("failed", static_cast<bool>(verdict->metrics[i]));
    json.end_object();
  }
  json.end_array().key("rows").begin_array();
  for (std::size_t row = 0; row < rows.rows(); ++row) {
    json.begin_object().member("path", rows.column("path").text(row));
    json.member("metric", rows.column("metric").text(row));
    write_numbers(json, rows, row);
    if (verdict != nullptr) json.member("failed", static_cast<bool>(verdict->rows[row]));
    json.end_object();
  }
  json.end_array();
}

}  // namespace fathom
