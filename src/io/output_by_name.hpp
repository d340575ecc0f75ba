// One file that somebody else writes, who wants a name to open: it appears whole or not at all all the same.
#pragma once

#include <filesystem>

#include "base/result.hpp"
#include "io/temporary.hpp"

namespace fathom {

// Written in a folder beside the target, put in its place by commit(). Links, devices, pipes and permissions are
// treated as OutputFile treats them. Not committed = removed.
class OutputByName {
 public:
  static Result<OutputByName> create(const std::filesystem::path& target);
  OutputByName(OutputByName&& other) noexcept;
  OutputByName& operator=(OutputByName&&) = delete;
  ~OutputByName();

  // Where to write: there is nothing yet.
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  Result<void> commit();

 private:
  OutputByName(std::filesystem::path target, Temporary folder, bool stream);
  Result<void> pass_on();

  std::filesystem::path target_;  // links followed
  Temporary folder_;
  bool stream_;  // the target is no regular file and gets the bytes at the end
  std::filesystem::path path_;
};

}  // namespace fathom
