// Files that several processes write together: the first makes the place, all write into it, and everything appears
// when all are done.
#pragma once

#include <functional>
#include <optional>

#include "io/blob.hpp"
#include "io/output_set.hpp"

namespace fathom {

// One file of which every process writes ranges of its own, at places that all have agreed on.
class SharedFile {
 public:
  // Whoever comes first makes it.
  static Result<SharedFile> open(const std::filesystem::path& path);
  SharedFile(SharedFile&& other) noexcept : shown_(std::move(other.shown_)), descriptor_(other.descriptor_) {
    other.descriptor_ = -1;
  }
  SharedFile& operator=(SharedFile&&) = delete;
  ~SharedFile();

  Result<void> write(std::uint64_t offset, Bytes bytes);
  // What this process has written is on disk.
  Result<void> finish();

 private:
  SharedFile(std::filesystem::path shown, int descriptor) : shown_(std::move(shown)), descriptor_(descriptor) {}
  [[nodiscard]] Error failure(int code) const;

  std::filesystem::path shown_;
  int descriptor_;
};

// Bytes one behind the other in such a file, buffered. The first failed write sticks and is reported by flush().
class SharedSequence {
 public:
  explicit SharedSequence(SharedFile& file, std::uint64_t at = 0) : file_(file), flushed_(at) {}
  SharedSequence(const SharedSequence&) = delete;
  SharedSequence& operator=(const SharedSequence&) = delete;

  void write(Bytes bytes);
  void write(std::string_view text) { write(as_bytes(text)); }
  [[nodiscard]] std::uint64_t offset() const { return flushed_ + buffer_.size(); }
  Result<void> flush();

 private:
  SharedFile& file_;
  std::vector<std::byte> buffer_;
  std::uint64_t flushed_;
  Result<void> status_;
};

class SharedOutput {
 public:
  // `make` is called in the first process. Everybody of the team must come here.
  static Result<SharedOutput> make(const std::function<Result<OutputSet>()>& make);

  // Where every process writes files of its own.
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // Waits for all; then only the first process goes on, which has the set to commit.
  Result<void> all_written();
  [[nodiscard]] OutputSet& set() { return *set_; }

 private:
  std::optional<OutputSet> set_;  // at the first
  std::filesystem::path path_;
};

}  // namespace fathom
