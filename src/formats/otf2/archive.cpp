#include "formats/otf2/archive.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "io/file.hpp"

namespace fathom::otf2 {

namespace {

// Definitions take up to that many times their bytes in memory.
constexpr std::uint64_t kDefinitionFactor = 6;

class DirectoryFiles : public Files {
 public:
  explicit DirectoryFiles(const std::filesystem::path& anchor)
      : base_(std::filesystem::path(anchor).replace_extension()) {}

  [[nodiscard]] Result<std::optional<Blob>> of_archive(std::string_view extension) const override {
    return map(base_.string() + '.' + std::string(extension));
  }
  [[nodiscard]] Result<std::optional<Blob>> of_location(std::uint64_t id, std::string_view extension) const override {
    return map(name(id, extension));
  }
  [[nodiscard]] std::string name(std::uint64_t location, std::string_view extension) const override {
    return (base_ / fmt::format("{}.{}", location, extension)).string();
  }
  [[nodiscard]] std::vector<std::uint64_t> locations() const override {
    std::vector<std::uint64_t> found;
    std::error_code status;
    for (const auto& entry : std::filesystem::directory_iterator(base_, status)) {
      if (entry.path().extension() != ".evt") continue;
      const std::string stem = entry.path().stem().string();
      if (const auto id = parse_integer<std::uint64_t>(stem)) found.push_back(*id);
    }
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  static Result<std::optional<Blob>> map(const std::filesystem::path& path) {
    std::error_code status;
    if (!std::filesystem::exists(path, status)) return std::optional<Blob>();
    FATHOM_TRY(Blob blob, map_file(path));
    return std::optional<Blob>(std::move(blob));
  }
  std::filesystem::path base_;
};

// Where definitions are lost, files of events still say which locations there were.
Result<void> recover_locations(Archive& archive) {
  std::uint64_t added = 0;
  for (const std::uint64_t id : archive.files->locations()) {
    if (archive.definitions.locations.find(id) != nullptr) continue;
    auto& table = archive.definitions.locations;
    table.index.add(id, static_cast<std::uint32_t>(table.all.size()));
    table.all.push_back({id, kUndefined32, 1, 0, kUndefined32});
    ++added;
  }
  if (added == 0) return {};
  return archive.work->diagnostics.add("otf2.lost_location", Severity::data_loss, archive.definitions.blob.place(),
                                       "locations whose definitions are lost are known by their files alone", added);
}

}  // namespace

std::shared_ptr<const Files> files_beside(const std::filesystem::path& anchor) {
  return std::make_shared<DirectoryFiles>(anchor);
}

Result<std::shared_ptr<const Archive>> Archive::open(std::shared_ptr<const Files> files, const Work& work) {
  auto archive = std::make_shared<Archive>();
  archive->files = std::move(files);
  archive->work = work;
  FATHOM_TRY(const auto anchor, archive->files->of_archive("otf2"));
  if (!anchor) return Error("has no anchor file (NAME.otf2)");
  FATHOM_TRY(archive->anchor, read_anchor(*anchor, work));
  FATHOM_TRY(const auto global, archive->files->of_archive("def"));
  if (!global) {
    return Error("has no file of definitions (NAME.def) beside it", anchor->place())
        .hint("copy the whole archive: NAME.otf2, NAME.def and the directory NAME");
  }
  FATHOM_TRY(archive->reserved, work->budget.reserve(global->size() * kDefinitionFactor, "definitions of an archive"));
  FATHOM_TRY(archive->definitions, read_global_definitions(*global, archive->anchor.definition_chunk, work));
  GlobalDefinitions& definitions = archive->definitions;
  if (!definitions.clock.known) {
    FATHOM_CHECK(work->diagnostics.warn("otf2.clock", global->place(),
                                        "there are no ClockProperties: 1,000,000,000 ticks per second from 0 assumed"));
  }
  if (definitions.damaged) {
    FATHOM_CHECK(recover_locations(*archive));
  } else if (definitions.records != archive->anchor.global_definitions) {
    FATHOM_CHECK(work->diagnostics.warn("otf2.definition_count", global->place(),
                                        fmt::format("{} definitions where the anchor counts {}", definitions.records,
                                                    archive->anchor.global_definitions)));
  }
  // Listing a large directory takes its time: where the numbers agree only a check does it.
  if (!definitions.damaged && definitions.locations.size() < archive->anchor.locations) {
    FATHOM_CHECK(note_stray_files(*archive));
  }
  if (definitions.locations.size() == 0 && archive->anchor.locations > 0) {
    return Error(fmt::format("none of the {} locations is defined", archive->anchor.locations), global->place());
  }
  return std::shared_ptr<const Archive>(std::move(archive));
}

Result<void> note_stray_files(const Archive& archive) {
  std::uint64_t strays = 0;
  std::string first;
  for (const std::uint64_t id : archive.files->locations()) {
    if (archive.definitions.locations.find(id) != nullptr) continue;
    if (strays++ == 0) first = archive.files->name(id, "evt");
  }
  if (strays == 0) return {};
  return archive.work->diagnostics.add("otf2.stray_events", Severity::data_loss, Place::in(first),
                                       "files of events belong to no location that is defined; they are not read",
                                       strays);
}

Result<LocalDefinitions> Archive::local(std::size_t location) const {
  const std::uint64_t id = definitions.locations.all[location].id;
  FATHOM_TRY(auto blob, files->of_location(id, "def"));
  if (!blob) {
    FATHOM_CHECK(work->diagnostics.warn(
        "otf2.missing_local_definitions", Place::in(files->name(id, "def")),
        fmt::format("location {} has no definitions of its own: its times are not corrected, its ids not mapped", id)));
    return LocalDefinitions{};
  }
  return read_local_definitions(std::move(*blob), anchor.definition_chunk, work);
}

Result<Blob> Archive::events(std::size_t location) const {
  const std::uint64_t id = definitions.locations.all[location].id;
  FATHOM_TRY(auto blob, files->of_location(id, "evt"));
  if (!blob) return Blob(files->name(id, "evt"), {}, nullptr);
  return std::move(*blob);
}

}  // namespace fathom::otf2
