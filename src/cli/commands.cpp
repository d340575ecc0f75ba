#include "cli/commands.hpp"

namespace fathom::cli {

// Every command is a file of its own and has one function here.
std::unique_ptr<Command> make_formats_command();
std::unique_ptr<Command> make_info_command();

std::span<const CommandGroup> command_groups() {
  static const std::vector<CommandGroup> kGroups = {
      {"Look at a dataset",
       {
           {"info", "what a dataset is: format, levels, counts, attributes", Forms::json, make_info_command},
       }},
      {"About Fathom",
       {
           {"formats", "what is read and written", Forms::json_and_csv, make_formats_command},
       }},
  };
  return kGroups;
}

const CommandEntry* find_command(std::string_view name) {
  for (const CommandGroup& group : command_groups()) {
    for (const CommandEntry& entry : group.commands) {
      if (entry.name == name) return &entry;
    }
  }
  return nullptr;
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const CommandGroup& group : command_groups()) {
    for (const CommandEntry& entry : group.commands) names.emplace_back(entry.name);
  }
  return names;
}

}  // namespace fathom::cli
