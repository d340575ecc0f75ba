// The program: arguments in, exit status out.
#pragma once

#include <span>
#include <string>

#include "base/output.hpp"

namespace fathom::cli {

// Arguments without the program's own name.
int run_program(std::span<const std::string> arguments, Output& out, Output& err);

}  // namespace fathom::cli
