// An archive: its anchor, its definitions and where its other files are.
#pragma once

#include <filesystem>

#include "formats/otf2/anchor.hpp"
#include "formats/otf2/definitions.hpp"
#include "formats/otf2/local_definitions.hpp"

namespace fathom::otf2 {

// Where the bytes of an archive come from: files beside the anchor, or anything else in tests.
class Files {
 public:
  virtual ~Files() = default;
  // Of the archive itself: "otf2", "def", "marker". Null = there is none.
  [[nodiscard]] virtual Result<std::optional<Blob>> of_archive(std::string_view extension) const = 0;
  // Of a location: "evt", "def".
  [[nodiscard]] virtual Result<std::optional<Blob>> of_location(std::uint64_t id, std::string_view extension) const = 0;
  // For messages.
  [[nodiscard]] virtual std::string name(std::uint64_t location, std::string_view extension) const = 0;
  // Locations that have a file of events, where that can be listed.
  [[nodiscard]] virtual std::vector<std::uint64_t> locations() const { return {}; }
};
std::shared_ptr<const Files> files_beside(const std::filesystem::path& anchor);

struct Archive {
  std::shared_ptr<const Files> files;
  Anchor anchor;
  GlobalDefinitions definitions;
  Work work;
  Budget::Reservation reserved;

  static Result<std::shared_ptr<const Archive>> open(std::shared_ptr<const Files> files, const Work& work);
  // Of the location at a position of definitions.locations.
  [[nodiscard]] Result<LocalDefinitions> local(std::size_t location) const;
  // Empty = it has none.
  [[nodiscard]] Result<Blob> events(std::size_t location) const;
};

// Tells of files of events whose locations sound definitions do not know: one is missing, or a run before left them.
Result<void> note_stray_files(const Archive& archive);

}  // namespace fathom::otf2
