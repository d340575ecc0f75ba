// A comparison as JSON.
#pragma once

#include <vector>

#include "base/json.hpp"
#include "base/table.hpp"

namespace fathom {

// Which totals and rows are beyond a limit, where one was set.
struct ChangesVerdict {
  std::vector<bool> metrics;
  std::vector<bool> rows;
};

// Members "metrics" and "rows" of totals_table() and changes_table() (profile/diff/changes.hpp), into an object that is
// open.
void write_changes(JsonWriter& json, const Table& totals, const Table& rows, const ChangesVerdict* verdict = nullptr);

}  // namespace fathom
