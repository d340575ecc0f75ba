#include "io/spill_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "io/temporary.hpp"

namespace fathom {

namespace {

std::filesystem::path directory() {
  std::error_code ignored;
  auto found = std::filesystem::temp_directory_path(ignored);
  return ignored ? std::filesystem::path("/tmp") : found;
}

Error failure(std::string_view what, int code) {
  return Error(fmt::format("cannot {} a temporary file: {}", what, std::strerror(code)),
               Place::in(directory().string()))
      .hint("set TMPDIR to a directory with room, or raise --max-memory");
}

}  // namespace

Result<int> make_unnamed_file() {
  std::string pattern = (directory() / "fathom.XXXXXX").string();
  const int descriptor = mkostemp(pattern.data(), O_CLOEXEC);
  if (descriptor < 0) return failure("make", errno);
  unlink(pattern.c_str());
  return descriptor;
}

SpillFile::~SpillFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

Result<void> SpillFile::append(std::span<const std::byte> bytes) {
  if (descriptor_ < 0) {
    FATHOM_TRY(descriptor_, make_unnamed_file());
  }
  while (!bytes.empty()) {
    const ssize_t written = pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(size_));
    if (written < 0) {
      if (errno == EINTR) continue;
      return failure("write", errno);
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    size_ += static_cast<std::uint64_t>(written);
  }
  return {};
}

Result<void> SpillFile::read(std::uint64_t offset, std::span<std::byte> out) const {
  while (!out.empty()) {
    const ssize_t got = pread(descriptor_, out.data(), out.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return failure("read", got < 0 ? errno : EIO);
    out = out.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
  return {};
}

}  // namespace fathom
