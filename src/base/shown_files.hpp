// Files that do not lie where the user has them: those of an archive are unpacked into a folder of our own. Messages
// name them as the user knows them.
#pragma once

#include <string>
#include <string_view>

namespace fathom {

// For its life time files below the folder are shown as members of the archive: "runs.tar.gz(run1/profile.cubex)".
// MT: safe.
class ShownAsArchive {
 public:
  ShownAsArchive(std::string folder, std::string archive);
  ~ShownAsArchive();
  ShownAsArchive(const ShownAsArchive&) = delete;
  ShownAsArchive& operator=(const ShownAsArchive&) = delete;

 private:
  std::string folder_;
};

// MT: safe.
std::string shown_file(std::string file);

}  // namespace fathom
