// Directories as lists of names.
#pragma once

#include <filesystem>
#include <vector>

#include "base/result.hpp"

namespace fathom {

// What macOS leaves beside everybody's files, on foreign disks and in archives: "._name", ".DS_Store", "__MACOSX". A
// path is litter where a part of it is.
bool is_litter(const std::filesystem::path& path);

// The entries of a directory in the order of their names, without litter and what others are just writing. The error
// says why it cannot be read.
Result<std::vector<std::filesystem::path>> list_directory(const std::filesystem::path& directory);

}  // namespace fathom
