#include "io/directory.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "io/temporary.hpp"

namespace fathom {

Result<std::vector<std::filesystem::path>> list_directory(const std::filesystem::path& directory) {
  namespace fs = std::filesystem;
  std::vector<fs::path> entries;
  std::error_code status;
  for (fs::directory_iterator it(directory, status), end; !status && it != end; it.increment(status)) {
    if (!is_temporary_name(it->path().filename().native())) entries.push_back(it->path());
  }
  if (status) {
    return Error(fmt::format("cannot read the directory: {}", status.message()), Place::in(directory.string()));
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

}  // namespace fathom
