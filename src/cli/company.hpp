// Commands that several processes run together (the program fathom-mpi): which can be split, and what each may use.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.hpp"

namespace fathom {
class Dataset;
}

namespace fathom::cli {

class Session;

// Whether the work of a command can be split between processes (base/team.hpp): all of them run it then. Otherwise the
// first one does it alone.
bool is_split(std::string_view command);
// Whether a stored profile is read where values are asked for, so that processes can share the reading. Others are read
// as a whole when they are opened.
bool reads_values_in_parts(const Dataset& dataset);
// For parts of such a command that are not split: says so, and only the first process goes on. `what` is a subject:
// "reading a stored profile is".
Result<void> first_alone(Session& session, std::string_view what);

// --threads and --max-memory where they are not given: the processes on a machine share what it has.
unsigned default_threads();
std::uint64_t default_memory();

}  // namespace fathom::cli
