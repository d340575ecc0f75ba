#include "io/temporary.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <random>
#include <string>

#include "io/output_set.hpp"

namespace fathom {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kMark = ".fathom-";
constexpr std::size_t kRandom = 6;
constexpr std::size_t kLongestName = 180;  // leaves room for the rest of it in the 255 of most file systems
constexpr int kTries = 100;

std::string prefix_of(std::string_view name) { return fmt::format(".{}{}", name.substr(0, kLongestName), kMark); }

std::string random_letters() {
  static constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  std::random_device device;
  std::string out;
  for (std::size_t i = 0; i < kRandom; ++i) out += kLetters[device() % kLetters.size()];
  return out;
}

fs::path or_here(const fs::path& directory) { return directory.empty() ? fs::path(".") : directory; }

// Locked and still there under its name? Somebody may have taken it for left behind before the lock was ours.
bool lock(int descriptor) {
  if (flock(descriptor, LOCK_EX) != 0) return true;  // no locks here: then nobody removes it either
  struct stat status {};
  return fstat(descriptor, &status) == 0 && status.st_nlink > 0;
}

template <class Make>
Result<Temporary> make_temporary(const fs::path& directory, std::string_view name, const Make& make) {
  remove_left_behind(directory, name);
  for (int i = 0; i < kTries; ++i) {
    fs::path path = directory / (prefix_of(name) + random_letters());
    const int descriptor = make(path.c_str());
    if (descriptor < 0) {
      if (errno == EEXIST || errno == EINTR) continue;
      return Error(fmt::format("cannot write: {}", std::strerror(errno)), Place::in((directory / name).string()));
    }
    if (lock(descriptor)) return Temporary{std::move(path), descriptor};
    close(descriptor);
  }
  return Error("cannot write: no free name for a temporary file", Place::in((directory / name).string()));
}

void remove_one(int directory, const fs::path& path, const char* name) {
  int descriptor = openat(directory, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) descriptor = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) return;
  struct stat status {};
  if (fstat(descriptor, &status) == 0 && status.st_uid == geteuid() && flock(descriptor, LOCK_EX | LOCK_NB) == 0) {
    if (S_ISREG(status.st_mode)) unlinkat(directory, name, 0);
    if (S_ISDIR(status.st_mode)) recover_output_set(path / name);
  }
  close(descriptor);
}

}  // namespace

bool is_temporary_name(std::string_view name) {
  return name.starts_with('.') && name.size() > kMark.size() + kRandom &&
         name.substr(name.size() - kRandom - kMark.size(), kMark.size()) == kMark;
}

fs::path final_path(const fs::path& path) {
  fs::path out;
  bool staged = false;
  for (const fs::path& part : path) {
    const bool temporary = is_temporary_name(part.native());
    if (!temporary && !(staged && part == kStagedFiles)) out /= part;
    staged = temporary;
  }
  return out;
}

bool lies_in_temporary(const fs::path& path) {
  const fs::path folder = path.parent_path();
  for (const fs::path& part : folder) {
    if (is_temporary_name(part.native())) return true;
  }
  return false;
}

Result<Temporary> make_temporary_file(const fs::path& directory, std::string_view name, mode_t mode) {
  return make_temporary(directory, name,
                        [&](const char* path) { return open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode); });
}

Result<Temporary> make_temporary_directory(const fs::path& directory, std::string_view name) {
  return make_temporary(directory, name, [&](const char* path) {
    if (mkdir(path, 0777) != 0) return -1;
    const int descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    // Taken for left behind before it could be locked: another name is tried.
    if (descriptor < 0 && errno == ENOENT) errno = EEXIST;
    return descriptor;
  });
}

Result<std::unique_ptr<TemporaryFolder>> TemporaryFolder::make(std::string_view name) {
  std::error_code status;
  const fs::path folder = fs::temp_directory_path(status);
  FATHOM_TRY(Temporary made, make_temporary_directory(status ? fs::path("/tmp") : folder, name));
  fs::permissions(made.path, fs::perms::owner_all, status);
  return std::unique_ptr<TemporaryFolder>(new TemporaryFolder(std::move(made)));
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(made_.path, ignored);
  close(made_.descriptor);
}

void remove_left_behind(const fs::path& directory, std::string_view name) {
  const fs::path path = or_here(directory);
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(opendir(path.c_str()), closedir);
  if (listing == nullptr) return;
  const std::string prefix = prefix_of(name);
  while (const dirent* entry = readdir(listing.get())) {
    const std::string_view found = entry->d_name;
    if (found.size() != prefix.size() + kRandom || !found.starts_with(prefix)) continue;
    remove_one(dirfd(listing.get()), path, entry->d_name);
  }
}

}  // namespace fathom
