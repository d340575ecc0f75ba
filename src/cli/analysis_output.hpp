// A table in whichever form was asked for.
#pragma once

#include "base/table.hpp"
#include "cli/session.hpp"

namespace fathom::cli {

// CSV, JSON (under the table's name, with the diagnostics), or aligned columns with units; columns named "share" and
// those without a unit in `shares` as percentages.
void print_table(Session& session, const Table& table, bool all_shares = false);

}  // namespace fathom::cli
