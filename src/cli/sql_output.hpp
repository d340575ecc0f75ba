// Results of queries in the form that was asked for.
#pragma once

#include <filesystem>

#include "base/output.hpp"
#include "base/table.hpp"
#include "report/terminal.hpp"

namespace fathom::cli {

enum class SqlForm : std::uint8_t { text, csv, json, markdown };

Result<void> write_sql_result(Output& out, SqlForm form, const TableSource& rows);
// CSV or JSON by the ending of the target, which appears whole or not at all.
Result<void> write_sql_file(const TableSource& rows, const std::filesystem::path& target, bool csv_safe);

}  // namespace fathom::cli
