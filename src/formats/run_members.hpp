// Runs named one by one instead of by the directory around them.
#pragma once

#include <filesystem>
#include <vector>

#include "formats/dataset.hpp"

namespace fathom {

Result<DatasetPtr> open_run_members(const std::vector<std::filesystem::path>& members, const Work& work);

}  // namespace fathom
