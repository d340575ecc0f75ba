// The tables of a dataset as files of text: CSV or JSON.
#pragma once

#include <filesystem>
#include <string>

#include "formats/dataset.hpp"
#include "report/row_writer.hpp"

namespace fathom {

struct TableFilesOptions {
  std::string table;   // only this one, as one file; empty = all, one file each in a directory
  bool force = false;  // into a directory that holds other files, too; they stay
  bool csv_safe = false;
};

// The target appears whole or not at all; "-" is standard output (one table).
Result<void> write_table_files(Dataset& dataset, RowForm form, const std::filesystem::path& target,
                               const TableFilesOptions& options);

}  // namespace fathom
