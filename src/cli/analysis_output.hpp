// A table in whichever form was asked for.
#pragma once

#include "base/table.hpp"
#include "cli/session.hpp"

namespace fathom::cli {

// CSV, JSON (under the table's name, with the diagnostics), or aligned columns with units; the column "share" as a
// percentage, with `all_shares` all numbers without a unit but "speedup".
void print_table(Session& session, const Table& table, bool all_shares = false);

}  // namespace fathom::cli
