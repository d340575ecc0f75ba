// The texts of --help.
#pragma once

#include <string>

#include "cli/command.hpp"
#include "report/terminal.hpp"

namespace fathom::cli {

std::string overview(const Terminal& terminal);
std::string command_help(const CommandEntry& entry, const Options& command, const Options& everywhere,
                         const Terminal& terminal);

}  // namespace fathom::cli
