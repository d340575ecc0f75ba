// Which calls statistics are about.
#pragma once

#include <array>

#include "base/result.hpp"
#include "fathom/dumpi.hpp"

namespace fathom::dumpi {

using CallSelection = std::array<bool, kIds>;  // by id

// "all", "mpi", "non-mpi", "sends", "recvs", "coll", "wait", "io", or an extended regular expression on the whole name,
// in any case.
Result<CallSelection> select_calls(std::string_view text);

}  // namespace fathom::dumpi
