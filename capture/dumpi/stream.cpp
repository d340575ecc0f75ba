#include "dumpi/stream.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace fathom::capture {

namespace {

// All of it, or the error.
int write_all(int descriptor, const unsigned char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t done = ::write(descriptor, data, size);
    if (done < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    if (done == 0) return ENOSPC;
    data += done;
    size -= static_cast<std::size_t>(done);
  }
  return 0;
}

}  // namespace

bool Stream::open(const char* path, std::size_t buffer_bytes) {
  buffer_ = static_cast<unsigned char*>(std::malloc(buffer_bytes));
  if (buffer_ == nullptr) {
    error_ = ENOMEM;
    return false;
  }
  capacity_ = buffer_bytes;
  descriptor_ = ::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) error_ = errno;
  return descriptor_ >= 0;
}

unsigned char* Stream::make_room(std::size_t bytes) {
  if (!flush()) return nullptr;
  if (bytes > capacity_) {
    // One record that is larger than the buffer.
    void* bigger = std::realloc(buffer_, bytes);
    if (bigger == nullptr) return nullptr;
    buffer_ = static_cast<unsigned char*>(bigger);
    capacity_ = bytes;
  }
  return buffer_;
}

bool Stream::flush() {
  if (descriptor_ < 0) return false;
  if (used_ == 0) return true;
  writing_ = 1;
  const int error = write_all(descriptor_, buffer_ + on_disk_, used_ - on_disk_);
  if (error == 0) {
    written_ += used_;
    used_ = on_disk_ = 0;
    writing_ = 0;
    return true;
  }
  error_ = error;
  close();
  return false;
}

void Stream::flush_in_signal() {
  if (descriptor_ < 0 || writing_ != 0) return;
  writing_ = 1;
  const int before = errno;
  const std::size_t end = used_;
  // The buffer stays as it is: the program may go on, in the middle of a record.
  if (write_all(descriptor_, buffer_ + on_disk_, end - on_disk_) == 0) on_disk_ = end;
  errno = before;
  writing_ = 0;
}

void Stream::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

void Stream::abandon() { close(); }

}  // namespace fathom::capture
