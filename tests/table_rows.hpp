// Tables as plain texts, for comparisons in tests.
#pragma once

#include <string>
#include <vector>

#include "base/table.hpp"
#include "report/table_text.hpp"

namespace fathom {

inline std::vector<std::string> column_names(const Table& table) {
  std::vector<std::string> names;
  for (const ColumnSpec& spec : table.schema.columns) names.push_back(spec.name);
  return names;
}

inline std::vector<std::vector<std::string>> table_rows(const Table& table) {
  std::vector<std::vector<std::string>> rows(table.rows());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (const Column& column : table.data.columns) rows[row].push_back(exact_cell(column, row));
  }
  return rows;
}

}  // namespace fathom
