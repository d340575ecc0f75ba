// Directories as lists of names.
#pragma once

#include <filesystem>
#include <vector>

#include "base/result.hpp"

namespace fathom {

// The entries of a directory in the order of their names, without what others are just writing. The error says why it
// cannot be read.
Result<std::vector<std::filesystem::path>> list_directory(const std::filesystem::path& directory);

}  // namespace fathom
