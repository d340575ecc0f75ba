// Where an archive is written to, and the same archive under another name.
#pragma once

#include "formats/otf2/archive.hpp"
#include "io/output_set.hpp"

namespace fathom::otf2 {

// NAME.otf2 with its files beside it, or a directory with traces.otf2 in it as Score-P makes them. All of its files
// appear together or not at all.
class ArchiveTarget {
 public:
  // `force`: a directory may hold other files, which stay. `source`: what is read; nothing is written into it.
  static Result<ArchiveTarget> at(const std::filesystem::path& target, bool force,
                                  const std::filesystem::path& source = {});

  // The directory to fill and the name of the archive in it.
  [[nodiscard]] const std::filesystem::path& directory() const { return made_.path(); }
  [[nodiscard]] const std::string& name() const { return name_; }
  Result<void> commit() { return made_.commit(); }

 private:
  ArchiveTarget(OutputSet made, std::string name) : made_(std::move(made)), name_(std::move(name)) {}
  OutputSet made_;
  std::string name_;
};

// All files, byte for byte.
Result<void> copy_archive(const std::filesystem::path& anchor, const std::filesystem::path& target, bool force);

}  // namespace fathom::otf2
