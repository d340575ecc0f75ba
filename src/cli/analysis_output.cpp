#include "cli/analysis_output.hpp"

namespace fathom::cli {

void print_table(Session& session, const Table& table, bool all_shares) {
  TableLook look;
  for (const ColumnSpec& column : table.schema.columns) {
    // Seconds are said by the unit that is shown; machines have the whole name.
    std::string title = column.name.ends_with("_s") ? column.name.substr(0, column.name.size() - 2) : column.name;
    for (char& c : title) c = c == '_' ? ' ' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    const bool share = column.type == ColumnType::float64 && column.unit.empty() &&
                       (column.name == "share" || (all_shares && column.name != "speedup"));
    look.columns.push_back(
        {column.name, share ? Show::share : Show::automatic, std::move(title), is_text(column.type)});
  }
  session.show_table(table, table.schema.name, look);
}

}  // namespace fathom::cli
