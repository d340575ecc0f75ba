// Files of which there are many: the bytes are there while somebody holds them, and a while longer. A process may map
// some ten thousand files at a time, and on a shared file system those are opened that are read, by whoever reads them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>

#include "base/work.hpp"
#include "io/blob.hpp"

namespace fathom {

// The files that stay open although nobody holds them, so that who comes back to one soon finds it: the latest ones.
class OpenFiles;
std::shared_ptr<OpenFiles> make_open_files();
// How many those are, for lists that are made from now on. For tests; returns what it was.
std::size_t keep_files_open(std::size_t most);

// Cheap to copy: all copies are the same file. MT: safe.
class FileOnDemand {
 public:
  FileOnDemand() = default;
  // Bytes that are in memory anyway.
  explicit FileOnDemand(Blob blob);
  // A file as open_file() understands it, opened now.
  static Result<FileOnDemand> open(const std::filesystem::path& path, std::shared_ptr<OpenFiles> files,
                                   const Work& work);
  // A file that was opened before, maybe by another process, and had that many bytes.
  static FileOnDemand known(const std::filesystem::path& path, std::uint64_t size, std::shared_ptr<OpenFiles> files,
                            const Work& work);

  [[nodiscard]] const std::string& name() const;
  [[nodiscard]] std::uint64_t size() const;
  [[nodiscard]] Place place(std::uint64_t at = 0) const;
  // The bytes, as long as the result or a copy of it lives. Where they cannot be had any more they are zeros, and work
  // stops as with any input that is gone (io/mapped_file.hpp).
  [[nodiscard]] std::shared_ptr<const Blob> hold() const;

 private:
  static FileOnDemand unopened(const std::filesystem::path& path, std::uint64_t size, std::shared_ptr<OpenFiles> files,
                               const Work& work);

  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace fathom
