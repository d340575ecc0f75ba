// Tables as text for people: aligned columns, numbers with units, bars on a terminal.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/output.hpp"
#include "base/table.hpp"
#include "report/terminal.hpp"
#include "report/text_table.hpp"

namespace fathom {

// How a column is shown.
enum class Show : std::uint8_t {
  automatic,    // by its type and unit: 1.5 ms, 3.2 MiB, 12,345; numbers without a unit as they are
  exact,        // with all digits
  grouped,      // 12,345
  share,        // of one: 0.25 as 25.0%
  of_sum,       // of the column's sum, as 25.0%
  bar,          // of the column's largest, as a bar; on a terminal only
  percent,      // of a hundred: 25 as 25.0%
  percent_bar,  // the same as a bar; on a terminal only
};

struct ColumnLook {
  std::string column;  // its name in the schema
  Show show = Show::automatic;
  std::string title = {};  // default: of the schema in capitals; a bar and a share beside their number have none
  bool elastic = false;    // may be cut to fit the terminal
};

struct TableLook {
  std::vector<ColumnLook> columns = {};  // which ones, in this order; empty = all of the schema
  Show all = Show::automatic;            // how, where none are named; exact: titles are the names as they are, too
  // The style of a row, over that of its cells; nothing = plain.
  std::function<Style(const Table& table, std::size_t row)> style = {};
  // Of the terminal that rows run over: a text at the end of a line loses its beginning to fit; 0 = nothing is cut.
  std::size_t line_width = 0;
};

// With all digits; "" where there is none.
std::string exact_cell(const Column& column, std::size_t row);
// With the unit that suits its size; "" where there is none.
std::string readable_cell(const Column& column, const ColumnSpec& spec, std::size_t row, Show show = Show::automatic);

// A table in memory. Columns in which no row has anything are left out.
std::string table_text(const Table& table, const Terminal& terminal, const TableLook& look = {});

// Rows as they come: widths are those of the first rows, what is wider later moves the rest of its line.
class LineWriter {
 public:
  LineWriter(Output& out, Schema schema, const TableLook& look = {});
  ~LineWriter();
  void write(const Batch& batch);
  void end();

 private:
  struct Layout;
  void start();
  void print(const std::vector<std::string>& cells);

  Output& out_;
  Schema schema_;
  std::unique_ptr<Layout> layout_;
  std::vector<std::size_t> widths_;
  std::size_t line_width_;
  std::vector<std::vector<std::string>> waiting_;
  bool started_ = false;
};

// A table of any size.
Result<void> write_text(Output& out, const TableSource& source, const ScanRequest& request = {},
                        const TableLook& look = {});

}  // namespace fathom
