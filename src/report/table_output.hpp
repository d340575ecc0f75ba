// Tables as text for machines: CSV and JSON; and Markdown for reports and pull requests.
#pragma once

#include <optional>

#include "base/json.hpp"
#include "base/output.hpp"
#include "base/table.hpp"
#include "report/row_writer.hpp"

namespace fathom {

// How far the rows of a table are: an integer column that only grows, and its ends.
struct RowProgress {
  std::size_t column = 0;
  std::int64_t from = 0;
  std::int64_t to = 0;
};

// A table of any size: batches become text in parallel and leave in order; memory for a few batches. JSON is an array
// of objects. Ends early without an error when nobody reads any more.
Result<void> write_rows(Output& out, RowForm form, const TableSource& source, const ScanRequest& request = {},
                        const std::optional<RowProgress>& progress = std::nullopt);

// A table in memory as CSV.
void write_csv(Output& out, const Table& table);

// How a table in memory appears inside of JSON.
struct JsonRows {
  bool skip_missing = false;  // members without a value are left out instead of null
};
// The rows as an array of objects, as the value that comes next.
void write_json(JsonWriter& json, const Table& table, JsonRows how = {});
// As an object of objects, by the text of the first column.
void write_json_by_key(JsonWriter& json, const Table& table, JsonRows how = {});

void write_markdown(Output& out, const Table& table);

}  // namespace fathom
