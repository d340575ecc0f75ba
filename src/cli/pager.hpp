// Long answers at a prompt go through a pager: $PAGER, or less, which ends by itself when everything fits.
#pragma once

#include <functional>

#include "base/output.hpp"

namespace fathom::cli {

// Calls `write` with where the answer goes: a pager, or `plain` without one.
Result<void> through_pager(Output& plain, const std::function<Result<void>(Output&)>& write);

}  // namespace fathom::cli
