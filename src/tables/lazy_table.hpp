// A table in memory that is made when it is first read: its columns are known before.
#pragma once

#include <functional>
#include <memory>

#include "base/table.hpp"

namespace fathom {

// `make` runs once at most; its schema must be the one given. MT: as every source.
std::unique_ptr<TableSource> lazy_table(Schema schema, std::function<Result<Table>()> make);

}  // namespace fathom
