#include "formats/cube/cube_format.hpp"

#include <algorithm>

#include "formats/cube/cube_dataset.hpp"
#include "formats/cube/from_profile.hpp"

namespace fathom::cube {

namespace {

// Whether a member of the archive itself is one of a profile, not what lies in a profile that it holds.
bool has_own_members(const TarArchive& tar) {
  return std::any_of(tar.members().begin(), tar.members().end(), [](const TarMember& member) {
    return member.name == kAnchorName || member.name.ends_with(".data") || member.name.ends_with(".index");
  });
}

Match recognise(const Source& source) {
  if (source.is_directory() || !TarArchive::looks_like(source.blob().bytes())) return {};
  // The anchor may be anywhere in the archive; its name stands at the beginning of a block.
  constexpr std::size_t kBlock = 512;
  constexpr std::size_t kLook = 4096;  // blocks
  const std::string_view text = source.blob().text();
  const std::string_view first = text.substr(0, text.find('\0'));
  if (first == kAnchorName) return {Confidence::certain, "tar archive that begins with anchor.xml"};
  // An archive around a profile shows the members of that profile, too: its own are what counts then.
  if (first.ends_with('/') || first.ends_with(".cubex")) {
    const auto tar = TarArchive::read(source.blob(), make_work());
    if (!tar.ok() || tar->find(kAnchorName) == nullptr) return {Confidence::maybe, "tar archive"};
    return {Confidence::certain, "tar archive with anchor.xml"};
  }
  for (std::size_t at = 0; at + kBlock <= text.size() && at / kBlock < kLook; at += kBlock) {
    if (text.substr(at).starts_with("CUBEX.DATA") || text.substr(at).starts_with("CUBEX.INDEX") ||
        text.substr(at).starts_with("ZCUBEX.DATA") || text.substr(at).starts_with("anchor.xml")) {
      const auto tar = TarArchive::read(source.blob(), make_work());
      if (tar.ok() && !has_own_members(*tar)) break;
      return {Confidence::certain, "tar archive with Cube members"};
    }
  }
  return {Confidence::maybe, "tar archive"};
}

Result<DatasetPtr> open(const Source& source, const Work& work) {
  if (source.is_directory()) {
    return Error("is a directory; a Cube profile is one file", Place::in(source.path().string()));
  }
  FATHOM_TRY(auto file, CubeFile::open(source.blob(), work));
  return DatasetPtr(std::make_unique<CubeDataset>(format(), source.path(), work, std::move(file)));
}

Result<void> write(Dataset& dataset, const std::filesystem::path& target, const WriteOptions& options) {
  if (&dataset.format() == &format()) {
    FATHOM_TRY([[maybe_unused]] const bool done, dataset.rewrite(target, options));
    return {};
  }
  FATHOM_TRY(const CubeWriteOptions chosen, parse_options(options));
  FATHOM_TRY(const auto profile, dataset.profile());
  return write_profile(*profile, target, chosen);
}

}  // namespace

const Format& format() {
  static const Format kFormat{.name = "cube",
                              .title = "Cube 4 profile",
                              .extensions = ".cubex",
                              .can = {{Level::profile}, {Level::profile}},
                              .recognise = recognise,
                              .open = open,
                              .write = write,
                              .equal_paths_repeat = true,
                              .options = {.writing = {&kAnchor}},
                              .shared = {.reads_values = true}};
  return kFormat;
}

}  // namespace fathom::cube
