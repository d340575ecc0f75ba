#include "io/directory.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/pack.hpp"
#include "io/temporary.hpp"

namespace fathom {

namespace {

Result<std::vector<std::filesystem::path>> list_here(const std::filesystem::path& directory) {
  namespace fs = std::filesystem;
  std::vector<fs::path> entries;
  std::error_code status;
  for (fs::directory_iterator it(directory, status), end; !status && it != end; it.increment(status)) {
    const fs::path name = it->path().filename();
    if (!is_temporary_name(name.native()) && !is_litter(name)) entries.push_back(it->path());
  }
  if (status) {
    return Error(fmt::format("cannot read the directory: {}", status.message()), Place::in(directory.string()));
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

}  // namespace

bool is_litter(const std::filesystem::path& path) {
  return std::any_of(path.begin(), path.end(), [](const std::filesystem::path& part) {
    return part.native().starts_with("._") || part == ".DS_Store" || part == "__MACOSX";
  });
}

Result<std::vector<std::filesystem::path>> list_directory(const std::filesystem::path& directory) {
  FATHOM_CHECK(team().assemble("listing"));
  if (team().alone()) return list_here(directory);
  // A directory of ten thousand files on a shared file system is listed once.
  std::vector<std::filesystem::path> entries;
  std::optional<Error> error;
  if (team().first()) {
    auto listed = list_here(directory);
    if (listed) {
      entries = *std::move(listed);
    } else {
      error = std::move(listed).error();
    }
  }
  Packer packer;
  packer(error, entries);
  FATHOM_TRY(const Parcel told, team().broadcast(std::move(packer).take()));
  Unpacker unpacker(told);
  unpacker(error, entries);
  FATHOM_CHECK(unpacker.status());
  if (error) return *std::move(error);
  return entries;
}

}  // namespace fathom
