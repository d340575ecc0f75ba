// The commands that measure: they know the traces of the recorders in capture/.
#include <vector>

#include "cli/command.hpp"

namespace fathom::cli {

std::unique_ptr<Command> make_record_command();

std::vector<CommandEntry> record_commands() {
  return {{"record", "run an MPI program and record its calls", Forms::json, make_record_command, "dumpi"}};
}

}  // namespace fathom::cli
