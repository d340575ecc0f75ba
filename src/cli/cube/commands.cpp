// The commands that are Cube's own.
#include <vector>

#include "cli/command.hpp"

namespace fathom::cli {

std::unique_ptr<Command> make_remap_command();

std::vector<CommandEntry> cube_commands() {
  return {
      {"remap", "the metric tree of a remapping spec over the same values", Forms::text, make_remap_command, "cube"}};
}

}  // namespace fathom::cli
