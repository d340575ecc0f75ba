#include "io/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace fathom {

namespace {

constexpr std::size_t kBufferSize = std::size_t{1} << 20;

Error failure(const std::filesystem::path& path, int code) {
  return Error(fmt::format("cannot write: {}", std::strerror(code)), Place::in(path.string()));
}

}  // namespace

Result<OutputFile> OutputFile::create(const std::filesystem::path& target) {
  std::error_code ignored;
  if (std::filesystem::is_directory(target, ignored)) return failure(target, EISDIR);
  // A link keeps pointing to what it points to; its target is what gets replaced.
  const auto real =
      std::filesystem::is_symlink(target, ignored) ? std::filesystem::weakly_canonical(target, ignored) : target;
  std::string pattern = real.string() + ".XXXXXX";
  const int descriptor = mkostemp(pattern.data(), O_CLOEXEC);
  if (descriptor < 0) return failure(target, errno);
  const mode_t mask = umask(0);
  umask(mask);
  (void)fchmod(descriptor, 0666 & ~mask);
  return OutputFile(real, pattern, descriptor);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : target_(std::move(other.target_)),
      temporary_(std::move(other.temporary_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      buffer_(std::move(other.buffer_)),
      flushed_(other.flushed_),
      error_(other.error_) {}

OutputFile::~OutputFile() {
  if (descriptor_ < 0) return;
  close(descriptor_);
  unlink(temporary_.c_str());
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
  write_at(flushed_, buffer_);
  flushed_ += buffer_.size();
  buffer_.clear();
}

void OutputFile::write_at(std::uint64_t offset, Bytes bytes) {
  while (error_ == 0 && !bytes.empty()) {
    const ssize_t written = pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0) {
      if (errno == EINTR) continue;
      error_ = errno;
      return;
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
}

Result<Blob> OutputFile::written() {
  flush();
  if (error_ != 0) return failure(target_, error_);
  if (flushed_ == 0) return Blob(temporary_.string(), {}, nullptr);
  void* address = mmap(nullptr, flushed_, PROT_READ, MAP_SHARED, descriptor_, 0);
  if (address == MAP_FAILED) return failure(target_, errno);
  const std::shared_ptr<const void> owner(address,
                                          [size = flushed_](const void* at) { munmap(const_cast<void*>(at), size); });
  return Blob(temporary_.string(), Bytes(static_cast<const std::byte*>(address), flushed_), owner);
}

Result<void> OutputFile::commit() {
  flush();
  if (error_ == 0 && fsync(descriptor_) != 0) error_ = errno;
  const int descriptor = std::exchange(descriptor_, -1);
  if (close(descriptor) != 0 && error_ == 0) error_ = errno;
  if (error_ == 0 && rename(temporary_.c_str(), target_.c_str()) != 0) error_ = errno;
  if (error_ == 0) return {};
  unlink(temporary_.c_str());
  return failure(target_, error_);
}

Result<void> write_file(const std::filesystem::path& target, std::string_view text) {
  FATHOM_TRY(auto file, OutputFile::create(target));
  file.write(text);
  return file.commit();
}

}  // namespace fathom
