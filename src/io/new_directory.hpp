// A directory that appears whole or not at all: filled beside the target, then put in its place.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>

#include "base/result.hpp"

namespace fathom {

// Removed unless it is put in the target's place.
class NewDirectory {
 public:
  // A directory at the target that holds a file of one of these names is an older one of the same kind and will be
  // replaced; any other that is not empty is an error.
  static Result<NewDirectory> beside(const std::filesystem::path& target,
                                     std::span<const std::string_view> replaceable);
  NewDirectory(NewDirectory&& other) noexcept;
  NewDirectory& operator=(NewDirectory&&) = delete;
  ~NewDirectory();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  Result<void> commit();

 private:
  NewDirectory(std::filesystem::path target, std::filesystem::path path);
  std::filesystem::path target_;
  std::filesystem::path path_;
};

}  // namespace fathom
