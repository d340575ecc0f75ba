// Of many runs those that can be read.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "formats/format.hpp"

namespace fathom {

// A run with an error is named and left out (--strict stops at it); nothing is left of none. `name` is what the runs
// are in.
Result<void> leave_out_unreadable(const std::vector<std::filesystem::path>& runs,
                                  const std::vector<std::optional<Error>>& errors, const std::string& name,
                                  const Work& work);

// Reads all runs and leaves out those that cannot be read: the numbers of the others, in order.
// MT: read runs on several threads at once.
Result<std::vector<std::size_t>> read_sound_runs(const std::vector<RunFile>& runs, const std::string& name,
                                                 const Work& work,
                                                 const std::function<Result<void>(std::size_t)>& read);

}  // namespace fathom
