#include "io/output_by_name.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/cancel.hpp"
#include "io/file.hpp"
#include "io/output_file.hpp"

namespace fathom {

namespace fs = std::filesystem;

namespace {

Error cannot_write(const fs::path& target, int code) {
  return Error(fmt::format("cannot write: {}", std::strerror(code)), Place::in(target.string()));
}

// Its bytes on the disk before its name is.
int sync_file(const fs::path& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno;
  const int failed = fsync(file) != 0 && errno != EINVAL ? errno : 0;
  close(file);
  return failed;
}

}  // namespace

OutputByName::OutputByName(fs::path target, Temporary folder, bool stream)
    : target_(std::move(target)),
      folder_(std::move(folder)),
      stream_(stream),
      path_(folder_.path / (stream ? fs::path("stream") : target_.filename())) {}

OutputByName::OutputByName(OutputByName&& other) noexcept
    : target_(std::move(other.target_)),
      folder_{std::exchange(other.folder_.path, {}), std::exchange(other.folder_.descriptor, -1)},
      stream_(other.stream_),
      path_(std::move(other.path_)) {}

OutputByName::~OutputByName() {
  std::error_code ignored;
  if (!folder_.path.empty()) fs::remove_all(folder_.path, ignored);
  if (folder_.descriptor >= 0) close(folder_.descriptor);
}

Result<OutputByName> OutputByName::create(const fs::path& target) {
  if (target.empty()) return Error::usage("the name of the file to write is empty");
  if (is_stream_target(target)) {
    std::error_code status;
    const fs::path directory = fs::temp_directory_path(status);
    if (status) return cannot_write(target, status.value());
    FATHOM_TRY(Temporary folder, make_temporary_directory(directory, "stream"));
    return OutputByName(target, std::move(folder), true);
  }
  FATHOM_TRY(fs::path real, follow_links(target));
  struct stat old {};
  if (stat(real.c_str(), &old) == 0) {
    if (S_ISDIR(old.st_mode)) return cannot_write(target, EISDIR);
    if (access(real.c_str(), W_OK) != 0) return cannot_write(target, errno);
  }
  FATHOM_TRY(Temporary folder, make_temporary_directory(real.parent_path(), real.filename().string()));
  return OutputByName(std::move(real), std::move(folder), false);
}

Result<void> OutputByName::commit() {
  if (cancelled()) return cancelled_error();
  if (stream_) return pass_on();
  struct stat old {};
  if (stat(target_.c_str(), &old) == 0) (void)chmod(path_.c_str(), old.st_mode & 0777);
  if (const int failed = sync_file(path_)) return cannot_write(target_, failed);
  if (std::rename(path_.c_str(), target_.c_str()) != 0) return cannot_write(target_, errno);
  return {};
}

Result<void> OutputByName::pass_on() {
  FATHOM_TRY(const Blob whole, map_file(path_));
  FATHOM_TRY(OutputFile file, OutputFile::create(target_));
  file.write(whole.bytes());
  return file.commit();
}

}  // namespace fathom
