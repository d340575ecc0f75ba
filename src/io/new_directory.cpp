#include "io/new_directory.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace fathom {

namespace fs = std::filesystem;

Result<NewDirectory> NewDirectory::beside(const fs::path& target, std::span<const std::string_view> replaceable) {
  const fs::path real = target.has_filename() ? target : target.parent_path();
  std::error_code status;
  const bool older = std::any_of(replaceable.begin(), replaceable.end(),
                                 [&](std::string_view name) { return fs::exists(real / name, status); });
  if (fs::exists(real, status) && !older && !(fs::is_directory(real, status) && fs::is_empty(real, status))) {
    return Error::usage(
        fmt::format("{} exists and is neither empty nor an older one; it is left alone", real.string()));
  }
  std::string pattern = real.string() + ".XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) {
    return Error(fmt::format("cannot create a directory beside it: {}", std::strerror(errno)),
                 Place::in(real.string()));
  }
  fs::permissions(pattern,
                  fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec | fs::perms::others_read |
                      fs::perms::others_exec,
                  status);
  return NewDirectory(real, pattern);
}

NewDirectory::NewDirectory(fs::path target, fs::path path) : target_(std::move(target)), path_(std::move(path)) {}

NewDirectory::NewDirectory(NewDirectory&& other) noexcept
    : target_(other.target_), path_(std::exchange(other.path_, {})) {}

NewDirectory::~NewDirectory() {
  std::error_code status;
  if (!path_.empty()) fs::remove_all(path_, status);
}

Result<void> NewDirectory::commit() {
  std::error_code status;
  fs::path old;
  if (fs::exists(target_, status)) {
    old = path_.string() + ".old";
    fs::rename(target_, old, status);
  }
  if (!status) fs::rename(path_, target_, status);
  if (status) {
    std::error_code ignored;
    if (!old.empty()) fs::rename(old, target_, ignored);
    return Error(fmt::format("cannot put the new directory in its place: {}", status.message()),
                 Place::in(target_.string()));
  }
  path_.clear();
  if (!old.empty()) fs::remove_all(old, status);
  return {};
}

}  // namespace fathom
