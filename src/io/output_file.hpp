// Output that appears whole or not at all: written beside the target, renamed when everything is there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "io/blob.hpp"

namespace fathom {

// Buffered; the first failed write sticks and is reported by commit(). Not committed = removed.
// Links are followed, to where there is nothing yet, too. What is no regular file (a device, a FIFO, "-" and
// /dev/stdout for standard output) is never replaced: it gets the bytes when all are there.
class OutputFile {
 public:
  static Result<OutputFile> create(const std::filesystem::path& target);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  void write(Bytes bytes);
  void write(std::string_view text) { write(as_bytes(text)); }
  // Replaces bytes that were written before, e.g. a size that is known only afterwards.
  void overwrite(std::uint64_t offset, Bytes bytes);
  [[nodiscard]] std::uint64_t offset() const { return flushed_ + buffer_.size(); }

  // What was written so far, mapped for reading; writing can go on behind it.
  Result<Blob> written();

  // Everything to disk; what can fail for want of room has happened after it. commit() does it, too.
  Result<void> finish();
  // Everything to disk under the target's name.
  Result<void> commit();

 private:
  OutputFile(std::filesystem::path target, std::filesystem::path temporary, int descriptor, int stream)
      : target_(std::move(target)), temporary_(std::move(temporary)), descriptor_(descriptor), stream_(stream) {}
  void flush();
  void write_at(std::uint64_t offset, Bytes bytes);
  void pass_on();
  [[nodiscard]] Error failure() const;

  std::filesystem::path target_;
  std::filesystem::path temporary_;  // empty: it has no name of its own
  int descriptor_ = -1;
  int stream_ = -1;  // what is no regular file and gets everything at the end
  std::vector<std::byte> buffer_;
  std::uint64_t flushed_ = 0;
  int error_ = 0;
  bool finished_ = false;
};

// The whole text as a file.
Result<void> write_file(const std::filesystem::path& target, std::string_view text);

// True for "-", /dev/stdout and the like, and for everything that exists and is neither a file nor a directory.
bool is_stream_target(const std::filesystem::path& target);
// A descriptor of its own for writing to such a target at once; what is in a file behind standard output stays.
Result<int> open_stream_target(const std::filesystem::path& target);
// "-", /dev/stdout and what else means it by its name.
bool is_standard_output(const std::filesystem::path& path);
// Where a path leads to, through links that may end at nothing.
Result<std::filesystem::path> follow_links(std::filesystem::path path);

}  // namespace fathom
