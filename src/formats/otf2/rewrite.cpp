#include "formats/otf2/rewrite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace fathom::otf2 {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kScorePName = "traces";

// A directory NAME beside NAME.otf2 is replaced only when nothing but an archive's files are in it.
bool is_archive_directory(const fs::path& path) {
  std::error_code status;
  for (const auto& entry : fs::directory_iterator(path, status)) {
    const std::string extension = entry.path().extension().string();
    if (extension != ".evt" && extension != ".def" && extension != ".snap") return false;
  }
  return true;
}

Error failed(const fs::path& path, const std::error_code& status) {
  return Error(fmt::format("cannot be written: {}", status.message()), Place::in(path.string()));
}

}  // namespace

Result<ArchiveTarget> ArchiveTarget::at(const fs::path& target) {
  if (target.extension() != ".otf2") {
    constexpr std::array<std::string_view, 1> kOlder = {"traces.otf2"};
    FATHOM_TRY(NewDirectory made, NewDirectory::beside(target, kOlder));
    return ArchiveTarget(std::move(made), target, std::string(kScorePName), true);
  }
  const std::string name = target.stem().string();
  const fs::path parent = target.has_parent_path() ? target.parent_path() : fs::path(".");
  std::error_code status;
  if (fs::is_directory(target, status)) {
    return Error::usage(fmt::format("{} is a directory, and an archive's anchor would be there", target.string()));
  }
  const fs::path beside = parent / name;
  if (fs::exists(beside, status) && !(fs::is_directory(beside, status) && is_archive_directory(beside))) {
    return Error::usage(fmt::format("{} exists and is no part of an archive; it is left alone", beside.string()));
  }
  FATHOM_TRY(NewDirectory made, NewDirectory::beside(parent / ("." + name + ".new"), {}));
  return ArchiveTarget(std::move(made), parent, name, false);
}

Result<void> ArchiveTarget::commit() {
  if (whole_) return made_.commit();
  std::error_code status;
  const fs::path& from = made_.path();
  // From the moment the old anchor is gone there is no archive until the new one is there.
  fs::remove(parent_ / (name_ + ".otf2"), status);
  if (fs::exists(parent_ / name_, status)) fs::rename(parent_ / name_, from / "older", status);
  for (const std::string& file : {name_, name_ + ".def", name_ + ".marker", name_ + ".otf2"}) {
    std::error_code ignored;
    if (!fs::exists(from / file, ignored)) {
      fs::remove(parent_ / file, ignored);
      continue;
    }
    fs::rename(from / file, parent_ / file, status);
    if (status) return failed(parent_ / file, status);
  }
  return {};
}

Result<void> copy_archive(const fs::path& anchor, const fs::path& target) {
  FATHOM_TRY(ArchiveTarget made, ArchiveTarget::at(target));
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
