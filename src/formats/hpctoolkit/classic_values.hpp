// Values of a classic database: dense tables per thread, or the columns of the XML.
#pragma once

#include <memory>
#include <vector>

#include "formats/hpctoolkit/classic_files.hpp"
#include "profile/source.hpp"

namespace fathom::hpctoolkit {

// [metric][scope][group of files]: the column of the tables; none where it is larger than they are wide.
using TableColumns = std::vector<std::vector<std::vector<std::uint32_t>>>;

// Values of the tables per thread, one location each. `groups` says of every table which columns are its own; `owner`
// keeps the bytes alive.
std::shared_ptr<const ValueSource> table_source(std::vector<MetricDbFile> tables, std::vector<std::size_t> groups,
                                                TableColumns columns, std::shared_ptr<const Definitions> definitions,
                                                std::shared_ptr<const void> owner);

// Values that stand in the XML, over one location that stands for all threads: [metric][scope][context].
std::shared_ptr<const ValueSource> column_source(std::vector<std::vector<std::vector<double>>> values);

}  // namespace fathom::hpctoolkit
