// The one list of commands.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/command.hpp"

namespace fathom::cli {

struct CommandGroup {
  std::string_view title;
  std::vector<CommandEntry> commands;
};

// In the order in which `fathom --help` shows them.
std::span<const CommandGroup> command_groups();
const CommandEntry* find_command(std::string_view name);
std::vector<std::string> command_names();

}  // namespace fathom::cli
