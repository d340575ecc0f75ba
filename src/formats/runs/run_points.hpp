// Where in the parameter space runs were made.
#pragma once

#include "formats/runs/run_files.hpp"

namespace fathom::runs {

// Fills parameters and points from the names of the members.
Result<void> points_by_name(RunList& list, const std::filesystem::path& where, const Work& work);
// Fills them from what the members say about themselves: attributes of their datasets that are known to be parameters
// of runs (jobsize, problem_size, ...) and differ between them. False when there are none.
Result<bool> points_by_attributes(RunList& list, const Work& work);
// Whether a dataset has such an attribute.
bool names_its_point(const std::filesystem::path& path, const Work& work);
// Everything from runs.csv in the directory.
Result<RunList> points_by_list(const std::filesystem::path& directory, const Work& work);

}  // namespace fathom::runs
