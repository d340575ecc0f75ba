// Zip archives, read from a blob and written as a whole.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/work.hpp"
#include "io/blob.hpp"

namespace fathom {

bool is_zip(Bytes bytes);

// MT: externally synchronised.
class ZipReader {
 public:
  static Result<ZipReader> open(const Blob& archive);
  ZipReader(ZipReader&&) noexcept;
  ~ZipReader();

  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] bool has(const std::string& name) const;
  // A member unpacked, with a few readable bytes behind it; its checksum is verified. Counted against the budget
  // while it lives, whatever size the archive claims.
  [[nodiscard]] Result<Blob> read(const std::string& name, const Work& work) const;

 private:
  struct Archive;
  explicit ZipReader(std::unique_ptr<Archive> archive);
  std::unique_ptr<Archive> archive_;
};

struct ZipMember {
  std::string name;
  std::string content;
  bool compress = true;
};
// Appears whole or not at all. Large members get the 64-bit form.
Result<void> write_zip(const std::filesystem::path& target, std::vector<ZipMember> members);

}  // namespace fathom
