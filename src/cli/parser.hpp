// Arguments into the variables of the declared options.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/options.hpp"

namespace fathom::cli {

// Fills the targets of `command` and of `everywhere` from arguments in any order. Mistyped options are usage errors
// with a suggestion. `command_name` is for messages. Returns what to say about spellings that are old.
Result<std::vector<std::string>> parse_arguments(std::span<const std::string> arguments, const Options& command,
                                                 const Options& everywhere, const std::string& command_name);

}  // namespace fathom::cli
