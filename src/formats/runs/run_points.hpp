// Where in the parameter space runs were made.
#pragma once

#include "formats/runs/run_files.hpp"

namespace fathom::runs {

// Fills parameters and points from the names of the members.
Result<void> points_by_name(RunList& list, const std::filesystem::path& where, const Work& work);
// Everything from runs.csv in the directory.
Result<RunList> points_by_list(const std::filesystem::path& directory, const Work& work);

}  // namespace fathom::runs
