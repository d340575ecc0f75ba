// Where an archive is written to, and the same archive under another name.
#pragma once

#include "formats/otf2/archive.hpp"
#include "io/new_directory.hpp"

namespace fathom::otf2 {

// NAME.otf2 with its files beside it, or a directory with traces.otf2 in it as Score-P makes them. Filled apart and
// then put in place; the anchor comes last, so that an interrupted write leaves no half of an archive.
class ArchiveTarget {
 public:
  static Result<ArchiveTarget> at(const std::filesystem::path& target);

  // The directory to fill and the name of the archive in it.
  [[nodiscard]] const std::filesystem::path& directory() const { return made_.path(); }
  [[nodiscard]] const std::string& name() const { return name_; }
  Result<void> commit();

 private:
  ArchiveTarget(NewDirectory made, std::filesystem::path parent, std::string name, bool whole)
      : made_(std::move(made)), parent_(std::move(parent)), name_(std::move(name)), whole_(whole) {}
  NewDirectory made_;
  std::filesystem::path parent_;  // of the anchor
  std::string name_;
  bool whole_;  // the directory itself is the target
};

// All files, byte for byte.
Result<void> copy_archive(const std::filesystem::path& anchor, const std::filesystem::path& target);

}  // namespace fathom::otf2
