#include "io/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "base/cancel.hpp"
#include "base/self_profile.hpp"
#include "base/text.hpp"
#include "io/mapped_file.hpp"
#include "io/temporary.hpp"

namespace fathom {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kBufferSize = std::size_t{1} << 20;
constexpr int kMostLinks = 40;
constexpr mode_t kNewFile = 0666;

Error write_failure(const fs::path& path, int code) {
  return Error(fmt::format("cannot write: {}", std::strerror(code)), Place::in(final_path(path).string()));
}

// The descriptor that a path stands for: 1 for "-" and /dev/stdout, N for /dev/fd/N.
std::optional<int> named_descriptor(const fs::path& path) {
  const std::string name = path.string();
  if (name == "-" || name == "/dev/stdout") return STDOUT_FILENO;
  if (name == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!name.starts_with(folder)) continue;
    if (const auto number = parse_integer<std::uint16_t>(name.substr(folder.size()))) return *number;
  }
  return std::nullopt;
}

// Opens what is no regular file; waiting for the reader of a FIFO ends with Ctrl-C.
Result<int> open_stream(const fs::path& path, const fs::path& shown) {
  const auto number = named_descriptor(path);
  while (true) {
    const int descriptor =
        number ? fcntl(*number, F_DUPFD_CLOEXEC, 0) : open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (descriptor >= 0) return descriptor;
    if (errno != EINTR) return write_failure(shown, errno);
    if (cancelled()) return cancelled_error();
  }
}

}  // namespace

bool is_standard_output(const fs::path& path) { return named_descriptor(path) == STDOUT_FILENO; }

Result<fs::path> follow_links(fs::path path) {
  for (int i = 0; i < kMostLinks; ++i) {
    if (named_descriptor(path)) return path;
    std::error_code status;
    if (!fs::is_symlink(path, status)) return path;
    const fs::path next = fs::read_symlink(path, status);
    if (status) return write_failure(path, status.value());
    path = next.is_absolute() ? next : path.parent_path() / next;
  }
  return write_failure(path, ELOOP);
}

bool is_stream_target(const fs::path& target) {
  const auto real = follow_links(target);
  if (!real) return false;
  if (named_descriptor(*real)) return true;
  struct stat status {};
  return stat(real->c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

Result<int> open_stream_target(const fs::path& target) {
  FATHOM_TRY(const fs::path real, follow_links(target));
  return open_stream(real, target);
}

Result<OutputFile> OutputFile::create(const fs::path& target) {
  if (target.empty()) return Error::usage("the name of the file to write is empty");
  FATHOM_TRY(const fs::path real, follow_links(target));
  if (is_stream_target(real)) {
    FATHOM_TRY(const int stream, open_stream(real, target));
    auto spool = make_unnamed_file();
    if (!spool) {
      close(stream);
      return std::move(spool).error();
    }
    return OutputFile(target, {}, *spool, stream);
  }
  if (lies_in_temporary(real)) {
    const int descriptor = open(real.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, kNewFile);
    if (descriptor < 0) return write_failure(target, errno);
    return OutputFile(target, {}, descriptor, -1);
  }
  // A file that is replaced keeps its permissions; one that may not be written is not replaced either.
  struct stat old {};
  const bool exists = stat(real.c_str(), &old) == 0;
  if (exists && S_ISDIR(old.st_mode)) return write_failure(target, EISDIR);
  if (exists && access(real.c_str(), W_OK) != 0) return write_failure(target, errno);
  const mode_t mode = exists ? old.st_mode & 0777 : kNewFile;
  FATHOM_TRY(Temporary temporary, make_temporary_file(real.parent_path(), real.filename().string(), mode));
  if (exists) (void)fchmod(temporary.descriptor, mode);
  return OutputFile(real, std::move(temporary.path), temporary.descriptor, -1);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : target_(std::move(other.target_)),
      temporary_(std::move(other.temporary_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      stream_(std::exchange(other.stream_, -1)),
      buffer_(std::move(other.buffer_)),
      flushed_(other.flushed_),
      error_(other.error_),
      finished_(other.finished_) {}

OutputFile::~OutputFile() {
  // Before the lock is gone with the descriptor, so that nobody else takes it for left behind.
  if (descriptor_ >= 0 && !temporary_.empty()) unlink(temporary_.c_str());
  if (descriptor_ >= 0) close(descriptor_);
  if (stream_ >= 0) close(stream_);
}

Error OutputFile::failure() const {
  if (error_ == ECANCELED) return cancelled_error();
  return write_failure(target_, error_);
}

void OutputFile::write(Bytes bytes) {
  if (bytes.size() >= kBufferSize) {
    flush();
    write_at(flushed_, bytes);
    flushed_ += bytes.size();
    return;
  }
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  if (buffer_.size() >= kBufferSize) flush();
}

void OutputFile::overwrite(std::uint64_t offset, Bytes bytes) {
  flush();
  write_at(offset, bytes);
}

void OutputFile::flush() {
  const Phase phase("write");
  if (error_ == 0 && cancelled()) error_ = ECANCELED;
  write_at(flushed_, buffer_);
  flushed_ += buffer_.size();
  buffer_.clear();
}

void OutputFile::write_at(std::uint64_t offset, Bytes bytes) {
  bool touched = false;
  while (error_ == 0 && !bytes.empty()) {
    const ssize_t written = pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0) {
      if (errno == EINTR) continue;
      // Bytes of a mapped file that became shorter: noticed by touching them, not by the kernel.
      if (errno == EFAULT && !std::exchange(touched, true)) {
        touch_pages(bytes.data(), bytes.size());
        continue;
      }
      error_ = errno;
      return;
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
}

Result<Blob> OutputFile::written() {
  flush();
  if (error_ != 0) return failure();
  if (flushed_ == 0) return Blob(target_.string(), {}, nullptr);
  auto mapping = map_guarded(descriptor_, flushed_, target_.string(), true);
  if (mapping == nullptr) return write_failure(target_, errno);
  const Bytes bytes(static_cast<const std::byte*>(mapping.get()), flushed_);
  return Blob(target_.string(), bytes, std::move(mapping));
}

void OutputFile::pass_on() {
  std::vector<std::byte> block(kBufferSize);
  std::uint64_t done = 0;
  while (error_ == 0 && done < flushed_) {
    const ssize_t got = pread(descriptor_, block.data(), block.size(), static_cast<off_t>(done));
    if (got <= 0) {
      error_ = got < 0 ? errno : EIO;
      return;
    }
    Bytes bytes(block.data(), static_cast<std::size_t>(got));
    done += bytes.size();
    while (error_ == 0 && !bytes.empty()) {
      const ssize_t count = ::write(stream_, bytes.data(), bytes.size());
      if (count >= 0) {
        bytes = bytes.subspan(static_cast<std::size_t>(count));
      } else if (errno == EINTR) {
        if (cancelled()) error_ = ECANCELED;
      } else {
        error_ = errno;
      }
    }
  }
  if (error_ == EPIPE) error_ = 0;  // the reader had enough
}

Result<void> OutputFile::finish() {
  flush();
  if (error_ == 0 && stream_ < 0 && fsync(descriptor_) != 0 && errno != EINVAL) error_ = errno;
  finished_ = true;
  if (error_ != 0) return failure();
  return {};
}

Result<void> OutputFile::commit() {
  const Phase phase("write");
  if (!finished_) FATHOM_CHECK(finish());
  if (stream_ >= 0) {
    pass_on();
  } else if (error_ == 0 && !temporary_.empty() && rename(temporary_.c_str(), target_.c_str()) != 0) {
    error_ = errno;
  }
  if (error_ != 0) return failure();
  temporary_.clear();
  const int descriptor = std::exchange(descriptor_, -1);
  if (close(descriptor) != 0) return write_failure(target_, errno);
  return {};
}

Result<void> write_file(const fs::path& target, std::string_view text) {
  FATHOM_TRY(auto file, OutputFile::create(target));
  file.write(text);
  return file.commit();
}

}  // namespace fathom
