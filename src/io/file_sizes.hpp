// How large many files are, asked once for all processes of a team: work on them is dealt out by bytes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/result.hpp"

namespace fathom {

// Everybody of the team must come here. A process that is alone has nothing to deal out: one for each.
Result<std::vector<std::uint64_t>> sizes_of_files(const std::vector<std::filesystem::path>& paths);

}  // namespace fathom
