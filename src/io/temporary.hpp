// Names for what is being written: hidden, beside the target, locked as long as the writer lives. So the next writer to
// the same place can tell what a killed process left behind, and removes it.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <string_view>

#include "base/result.hpp"

namespace fathom {

struct Temporary {
  std::filesystem::path path;
  int descriptor = -1;  // holds the lock; of a file it is open for reading and writing
};

// ".NAME.fathom-XXXXXX" in the directory; what dead processes left there under that name is removed first.
Result<Temporary> make_temporary_file(const std::filesystem::path& directory, std::string_view name, mode_t mode);
Result<Temporary> make_temporary_directory(const std::filesystem::path& directory, std::string_view name);
void remove_left_behind(const std::filesystem::path& directory, std::string_view name);

// A directory for what need not last, visible to us alone, where the system keeps such; gone with this object, or with
// the next one of that name where the process was killed.
class TemporaryFolder {
 public:
  static Result<std::unique_ptr<TemporaryFolder>> make(std::string_view name);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return made_.path; }

 private:
  explicit TemporaryFolder(Temporary made) : made_(std::move(made)) {}
  Temporary made_;
};

// A descriptor of a file without a name, in TMPDIR or what the system has for it.
Result<int> make_unnamed_file();

// True for the names above: readers that walk directories pass them by.
bool is_temporary_name(std::string_view name);
// The folder in a temporary directory from which files go to where that directory lies.
inline constexpr const char* kStagedFiles = "fathom.new";
// A path in a temporary directory as it will be called, for messages.
std::filesystem::path final_path(const std::filesystem::path& path);
// True when a folder on the way to the path is one of them: nothing in there needs a temporary of its own.
bool lies_in_temporary(const std::filesystem::path& path);

}  // namespace fathom
