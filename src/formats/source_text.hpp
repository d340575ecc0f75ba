// Where the text of a source file lies that a dataset names: a copy beside the data (as hpcprof makes them), or the
// file itself on this machine.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

namespace fathom {

// Where the text of a file lies that regions of the dataset at `dataset` name: a copy (`src/...` below the database, by
// its path there or by its original path), the original where it exists here, or a copy that lies less deep in `src`
// under the end of that path. Nothing when there is none; names that lead out of the database are not followed into it.
std::optional<std::filesystem::path> find_source(const std::filesystem::path& dataset, std::string_view file);

}  // namespace fathom
