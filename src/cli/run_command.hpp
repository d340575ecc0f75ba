// Programs that a command of ours runs.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace fathom::cli {

using Variables = std::vector<std::pair<std::string, std::string>>;

// Runs a command with these variables in its environment and waits for it: its exit code, or 128 and the number of the
// signal that ended it. `output`: gets what the command writes to its standard output, which is ours otherwise.
Result<int> run_command(const std::vector<std::string>& words, const Variables& variables,
                        std::string* output = nullptr);

}  // namespace fathom::cli
