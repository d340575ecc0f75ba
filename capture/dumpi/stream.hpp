// The trace file of this process: a buffer of records in front of a file that only ever grows by whole blocks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dumpi/array.hpp"

namespace fathom::capture {

// Big-endian, byte by byte where the compiler sees fit.
inline unsigned char* put8(unsigned char* to, std::uint8_t value) {
  *to = value;
  return to + 1;
}
inline unsigned char* put16(unsigned char* to, std::uint16_t value) {
  const std::uint16_t swapped = __builtin_bswap16(value);
  __builtin_memcpy(to, &swapped, 2);
  return to + 2;
}
inline unsigned char* put32(unsigned char* to, std::uint32_t value) {
  const std::uint32_t swapped = __builtin_bswap32(value);
  __builtin_memcpy(to, &swapped, 4);
  return to + 4;
}
inline unsigned char* put64(unsigned char* to, std::uint64_t value) {
  const std::uint64_t swapped = __builtin_bswap64(value);
  __builtin_memcpy(to, &swapped, 8);
  return to + 8;
}

class Stream {
 public:
  // Makes the file; false: errno says why.
  bool open(const char* path, std::size_t buffer_bytes);
  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }
  [[nodiscard]] std::uint64_t position() const { return written_ + used_; }

  // Room for so many bytes; nothing when it cannot be had. What is put there counts after commit().
  unsigned char* room(std::size_t bytes) {
    if (used_ + bytes > capacity_) return make_room(bytes);
    return buffer_ + used_;
  }
  void commit(const unsigned char* end) {
    // Whole records only: a signal handler may write the buffer at any time.
    __atomic_signal_fence(__ATOMIC_RELEASE);
    used_ = static_cast<std::size_t>(end - buffer_);
  }

  // Writes what is committed. False: the file is closed and error() says why; what was written before stays.
  bool flush();
  // The same from a signal handler: only what is safe there.
  void flush_in_signal();
  void close();
  // In a forked child: forget the parent's file.
  void abandon();
  [[nodiscard]] int error() const { return error_; }

 private:
  unsigned char* make_room(std::size_t bytes);

  unsigned char* buffer_ = nullptr;
  std::size_t used_ = 0;
  std::size_t on_disk_ = 0;  // of what is used: written by a signal handler already
  std::size_t capacity_ = 0;
  std::uint64_t written_ = 0;
  int descriptor_ = -1;
  int error_ = 0;
  volatile int writing_ = 0;
};

}  // namespace fathom::capture
