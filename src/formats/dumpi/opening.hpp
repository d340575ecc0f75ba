// The files of the ranks of a run, each opened by one process of the team, known to all.
#pragma once

#include <filesystem>

#include "formats/dumpi/file.hpp"

namespace fathom::dumpi {

// One of the two.
struct OpenedRank {
  std::optional<File> file;
  std::optional<Error> failed;
};

// In the order of the paths.
Result<std::vector<OpenedRank>> open_rank_files(const std::vector<std::filesystem::path>& paths, const Work& work);

}  // namespace fathom::dumpi
