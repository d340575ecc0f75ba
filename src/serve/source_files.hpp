// Texts of source files that a dataset names. The names come from the data, so that they are only ever looked up below
// folders that the user chose: the dataset itself, where it is a folder, and those of --source.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

namespace fathom::serve {

// MT: safe (const).
class SourceFiles {
 public:
  SourceFiles() = default;
  SourceFiles(const std::filesystem::path& dataset, const std::vector<std::filesystem::path>& roots);

  // A regular file that lies, with all links followed, below one of the folders; by its whole path there or the end of
  // it. Nothing where there is none.
  [[nodiscard]] std::optional<std::filesystem::path> find(std::string_view name) const;

 private:
  std::vector<std::filesystem::path> roots_;  // with all links followed
};

}  // namespace fathom::serve
