#include "formats/otf2/rewrite.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "io/opened_files.hpp"
#include "io/output_file.hpp"

namespace fathom::otf2 {

namespace fs = std::filesystem;

bool is_archive_file(const fs::path& relative, const std::string& name) {
  const std::string extension = relative.extension().string();
  if (relative.has_parent_path()) {
    return relative.parent_path() == name && (extension == ".evt" || extension == ".def" || extension == ".snap");
  }
  const std::string file = relative.string();
  return file == name || file == name + ".otf2" || file == name + ".def" || file == name + ".marker" ||
         (file.starts_with(name + ".") && extension == ".thumb");
}

namespace {

constexpr std::string_view kScorePName = "traces";

// A directory NAME beside NAME.otf2 is replaced only when nothing but an archive's files are in it.
bool is_archive_directory(const fs::path& path, const std::string& name) {
  std::error_code status;
  for (const auto& entry : fs::directory_iterator(path, status)) {
    if (!is_archive_file(fs::path(name) / entry.path().filename(), name)) return false;
  }
  return true;
}

Error failed(const fs::path& path, const std::error_code& status) {
  return Error(fmt::format("cannot be written: {}", status.message()), Place::in(path.string()));
}

Result<OutputSet> as_directory(const fs::path& target, const std::string& name, bool force, const fs::path& source) {
  return OutputSet::directory(target,
                              {.owns = [name](const fs::path& relative) { return is_archive_file(relative, name); },
                               .force = force,
                               .source = source});
}

Result<OutputSet> as_files(const fs::path& target, const std::string& name) {
  const fs::path parent = target.has_parent_path() ? target.parent_path() : fs::path(".");
  std::error_code status;
  if (fs::is_directory(target, status)) {
    return Error::usage(fmt::format("{} is a directory, and an archive's anchor would be there", target.string()));
  }
  const fs::path beside = parent / name;
  if (fs::exists(beside, status) && !(fs::is_directory(beside, status) && is_archive_directory(beside, name))) {
    return Error::usage(fmt::format("{} exists and is no part of an archive; it is left alone", beside.string()));
  }
  FATHOM_TRY(OutputSet set,
             OutputSet::beside(target, [name](const fs::path& relative) { return is_archive_file(relative, name); }));
  // Files of an archive that is read go with their anchor only: 0.def in it is not that of an archive called 0.
  for (const fs::path& older : set.older()) {
    if (!is_input(target)) FATHOM_CHECK(spare_inputs(parent / older));
  }
  return set;
}

}  // namespace

Result<ArchiveTarget> ArchiveTarget::at(const fs::path& wanted, bool force, const fs::path& source) {
  FATHOM_TRY(const fs::path target, follow_links(wanted));
  const bool files = target.extension() == ".otf2";
  std::string name = files ? target.stem().string() : std::string(kScorePName);
  FATHOM_TRY(SharedOutput made, SharedOutput::make([&] {
               return files ? as_files(target, name) : as_directory(target, name, force, source);
             }));
  return ArchiveTarget(std::move(made), std::move(name));
}

Result<void> copy_archive(const fs::path& anchor, const fs::path& target, bool force) {
  FATHOM_TRY(ArchiveTarget made, ArchiveTarget::at(target, force));
  const fs::path source = fs::path(anchor).replace_extension();
  const fs::path copy = made.directory() / made.name();
  std::error_code status;
  for (const std::string_view extension : {".otf2", ".def", ".marker"}) {
    const fs::path file = source.string() + std::string(extension);
    if (!fs::exists(file, status)) continue;
    if (!fs::copy_file(file, copy.string() + std::string(extension), status)) return failed(copy, status);
  }
  fs::create_directory(copy, status);
  std::error_code listing;
  for (const auto& entry : fs::directory_iterator(source, listing)) {
    if (!entry.is_regular_file(status)) continue;
    if (!fs::copy_file(entry.path(), copy / entry.path().filename(), status)) return failed(copy, status);
  }
  // Thumbnails: NAME.<n>.thumb.
  const std::string prefix = source.filename().string() + ".";
  const fs::path parent = source.has_parent_path() ? source.parent_path() : fs::path(".");
  for (const auto& entry : fs::directory_iterator(parent, listing)) {
    const std::string file = entry.path().filename().string();
    if (!file.starts_with(prefix) || !file.ends_with(".thumb")) continue;
    fs::copy_file(entry.path(), made.directory() / (made.name() + file.substr(prefix.size() - 1)), status);
  }
  return made.commit();
}

}  // namespace fathom::otf2
