// A directory of runs: one directory per point and repetition, in it the files of a profiler.
#pragma once

#include <vector>

#include "formats/format.hpp"

namespace fathom::runs {

const Format& format();
// Runs named one by one instead of by the directory around them.
Result<DatasetPtr> open_members(const std::vector<std::filesystem::path>& members, const Work& work);

}  // namespace fathom::runs
