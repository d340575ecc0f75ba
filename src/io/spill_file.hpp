// A file for what does not fit into memory. It has no name and is gone with its owner, however that ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.hpp"

namespace fathom {

// MT: externally synchronised, but reads of what was written are safe from several threads.
class SpillFile {
 public:
  SpillFile() = default;
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;
  ~SpillFile();

  // Made at the first call, in TMPDIR or what the system has for it.
  Result<void> append(std::span<const std::byte> bytes);
  Result<void> read(std::uint64_t offset, std::span<std::byte> out) const;
  [[nodiscard]] std::uint64_t size() const { return size_; }
  // For mapping what was written; -1 = nothing was.
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace fathom
