// Where an archive is written to, and the same archive under another name.
#pragma once

#include "formats/otf2/archive.hpp"
#include "io/shared_output.hpp"

namespace fathom::otf2 {

// The files of an archive, relative to its anchor's directory; its own directory counts as one.
bool is_archive_file(const std::filesystem::path& relative, const std::string& name);

// NAME.otf2 with its files beside it, or a directory with traces.otf2 in it as Score-P makes them. All of its files
// appear together or not at all. Every process of a team must come here; all of them write.
class ArchiveTarget {
 public:
  // `force`: a directory may hold other files, which stay. `source`: what is read; nothing is written into it.
  static Result<ArchiveTarget> at(const std::filesystem::path& target, bool force,
                                  const std::filesystem::path& source = {});

  // The directory to fill and the name of the archive in it.
  [[nodiscard]] const std::filesystem::path& directory() const { return made_.path(); }
  [[nodiscard]] const std::string& name() const { return name_; }
  // When all have written; the first process goes on.
  Result<void> commit() {
    FATHOM_CHECK(made_.all_written());
    return made_.set().commit();
  }

 private:
  ArchiveTarget(SharedOutput made, std::string name) : made_(std::move(made)), name_(std::move(name)) {}
  SharedOutput made_;
  std::string name_;
};

// All files, byte for byte.
Result<void> copy_archive(const std::filesystem::path& anchor, const std::filesystem::path& target, bool force);

}  // namespace fathom::otf2
