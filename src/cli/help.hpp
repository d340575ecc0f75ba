// The texts of --help.
#pragma once

#include <string>

#include "cli/command.hpp"
#include "report/terminal.hpp"

namespace fathom::cli {

// One screen: the commands that matter most, and where the others are.
std::string overview(const Terminal& terminal);
// `fathom help TOPIC`: the commands of a group, or of all ("commands"); "" when there is no such topic.
std::string topic(std::string_view name, const Terminal& terminal);
std::string command_help(const CommandEntry& entry, const Options& command, const Options& everywhere,
                         const Terminal& terminal);

}  // namespace fathom::cli
