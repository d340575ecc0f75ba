// Any dataset as named tables of typed columns: what SQL, Parquet, C and Python see. Nothing is imported: tables are
// scans over the levels, with the columns and bounds that are wanted.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/table.hpp"
#include "formats/dataset.hpp"
#include "tables/bounds.hpp"

namespace fathom {

// What there is to know about a table before it is opened.
struct TableKind {
  std::string_view name;
  std::string_view title;
  std::vector<std::string_view> bounds;  // those it takes: from_ns, to_ns, location, metric, context, flavour
};

// All tables there are, whatever the dataset.
const std::vector<TableKind>& table_kinds();
// Those that a dataset of these levels has, in the order of table_kinds().
std::vector<const TableKind*> tables_of(const std::vector<Level>& levels);

// True for a file that all tables of a dataset in a directory have: TABLE.csv, and below TABLE those of its parts
// (part-0003.parquet) and of the values of a column (location=0/data_0.parquet). The ending has its dot.
bool is_table_file(const std::filesystem::path& relative, std::string_view ending);

// A table of the dataset. The source keeps the level that it shows; the dataset must outlive it. A table that the
// dataset does not have, or a bound that the table does not know, is a usage error.
// MT: externally synchronised with other uses of the dataset; what it returns may be scanned by many threads.
Result<std::unique_ptr<TableSource>> open_table(Dataset& dataset, std::string_view name,
                                                const TableBounds& bounds = {});

}  // namespace fathom
