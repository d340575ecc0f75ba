#include "formats/hpctoolkit/new_directory.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace fathom::hpctoolkit {

namespace fs = std::filesystem;

Result<NewDirectory> NewDirectory::beside(const fs::path& target) {
  fs::path real = target;
  if (!real.has_filename()) real = real.parent_path();
  std::error_code status;
  if (fs::exists(real, status) && !fs::is_empty(real, status) && !fs::exists(real / "meta.db", status) &&
      !fs::exists(real / "experiment.xml", status)) {
    return Error::usage(fmt::format("{} exists and is no database; it is left alone", real.string()));
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
    return Error(fmt::format("cannot put the database in place: {}", status.message()), Place::in(target_.string()));
  }
  path_.clear();
  if (!old.empty()) fs::remove_all(old, status);
  return {};
}

}  // namespace fathom::hpctoolkit
