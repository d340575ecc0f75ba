// The commands that are ovni's own.
#include <vector>

#include "cli/command.hpp"

namespace fathom::cli {

std::unique_ptr<Command> make_emulate_command();
std::unique_ptr<Command> make_sort_command();
std::unique_ptr<Command> make_sync_command();

std::vector<CommandEntry> ovni_commands() {
  return {
      {"emulate", "replay a trace through its models into Paraver views", Forms::text, make_emulate_command, "ovni"},
      {"sort", "repair the order of events, or check it", Forms::text, make_sort_command, "ovni"},
      {"sync", "tables of clock offsets", Forms::text, make_sync_command, "ovni"},
  };
}

}  // namespace fathom::cli
