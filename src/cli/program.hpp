// The program: arguments in, exit status out.
#pragma once

#include <span>
#include <string>

#include "base/output.hpp"

namespace fathom::cli {

// Arguments without the program's own name. In a team (base/team.hpp) every process calls this with the same arguments;
// what the first one returns is the exit status, and it alone has something to say.
int run_program(std::span<const std::string> arguments, Output& out, Output& err);

}  // namespace fathom::cli
