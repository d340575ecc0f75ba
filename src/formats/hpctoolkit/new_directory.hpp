// A directory that appears whole or not at all: filled beside the target, then put in its place.
#pragma once

#include <filesystem>

#include "base/result.hpp"

namespace fathom::hpctoolkit {

// Removed unless it is put in the target's place.
class NewDirectory {
 public:
  // An older database at the target will be replaced; any other directory that is not empty is an error.
  static Result<NewDirectory> beside(const std::filesystem::path& target);
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

}  // namespace fathom::hpctoolkit
