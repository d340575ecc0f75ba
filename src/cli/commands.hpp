// The one list of commands.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/command.hpp"

namespace fathom::cli {

struct CommandGroup {
  std::string_view title;
  std::string_view topic;  // `fathom help TOPIC` shows this group
  std::vector<CommandEntry> commands;
};

// In the order in which help shows them.
std::span<const CommandGroup> command_groups();
const CommandEntry* find_command(std::string_view name);
std::vector<std::string> command_names();
// What a newcomer needs, in the order in which they need it.
std::span<const std::string_view> first_commands();

}  // namespace fathom::cli
