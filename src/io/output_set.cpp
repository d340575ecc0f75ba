#include "io/output_set.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

#include "base/cancel.hpp"
#include "io/output_file.hpp"
#include "io/temporary.hpp"

namespace fathom {

namespace fs = std::filesystem;

namespace {

// What is in a staging folder: the new files, the old ones that were moved out of their way, and a mark that all of
// these are. Without the mark an interrupted commit is undone, with it finished.
constexpr const char* kNew = kStagedFiles;
constexpr const char* kOld = "fathom.old";
constexpr const char* kMoved = "fathom.moved";

Error cannot(const fs::path& path, const std::error_code& status) {
  return Error(fmt::format("cannot write: {}", status.message()), Place::in(path.string()));
}

std::error_code last_error() { return {errno, std::generic_category()}; }

// The files below a folder, relative to it. Links to folders are not followed.
std::vector<fs::path> files_below(const fs::path& folder, std::error_code& status) {
  std::vector<fs::path> found;
  for (fs::recursive_directory_iterator it(folder, status), end; !status && it != end; it.increment(status)) {
    if (is_temporary_name(it->path().filename().native())) {
      it.disable_recursion_pending();
      continue;
    }
    if (it->is_directory(status) && !it->is_symlink(status)) continue;
    found.push_back(it->path().lexically_relative(folder));
  }
  return found;
}

// Moves a file, making the folders that it needs.
std::error_code move_file(const fs::path& from, const fs::path& to) {
  if (std::rename(from.c_str(), to.c_str()) == 0) return {};
  if (errno != ENOENT) return last_error();
  std::error_code status;
  fs::create_directories(to.parent_path(), status);
  if (status) return status;
  return std::rename(from.c_str(), to.c_str()) == 0 ? std::error_code() : last_error();
}

void move_everything(const fs::path& from, const fs::path& to) {
  std::error_code status;
  for (const fs::path& file : files_below(from, status)) (void)move_file(from / file, to / file);
}

Error inside_itself(const fs::path& target, const fs::path& source) {
  std::error_code status;
  const bool same = fs::equivalent(target, source, status);
  return Error::usage(same ? fmt::format("{} is being read", target.string())
                           : fmt::format("{} lies inside {}, which is being read", target.string(), source.string()))
      .hint("choose another place to write to");
}

}  // namespace

bool lies_within(const fs::path& path, const fs::path& directory) {
  std::error_code status;
  fs::path inner = fs::weakly_canonical(fs::absolute(path, status), status);
  if (status) return false;
  // Not by name: the same directory may be mounted in several places.
  while (true) {
    std::error_code ignored;  // what is not there yet is nothing's equal
    if (fs::equivalent(inner, directory, ignored)) return true;
    fs::path above = inner.parent_path();
    if (above == inner) return false;
    inner = std::move(above);
  }
}

Result<void> need_room_for_files(const fs::path& target, std::string_view what) {
  if (!is_stream_target(target)) return {};
  return Error::usage(fmt::format("{} has no room for {}", target.string(), what)).hint("name a file or a directory");
}

OutputSet::OutputSet(fs::path staging, int lock, fs::path target, bool whole, std::vector<fs::path> older)
    : staging_(std::move(staging)),
      path_(staging_ / (whole ? target.filename() : fs::path(kNew))),
      lock_(lock),
      target_(std::move(target)),
      whole_(whole),
      older_(std::move(older)) {}

OutputSet::OutputSet(OutputSet&& other) noexcept
    : staging_(std::exchange(other.staging_, {})),
      path_(std::move(other.path_)),
      lock_(std::exchange(other.lock_, -1)),
      target_(std::move(other.target_)),
      whole_(other.whole_),
      older_(std::move(other.older_)) {}

OutputSet::~OutputSet() {
  std::error_code ignored;
  if (!staging_.empty()) fs::remove_all(staging_, ignored);
  if (lock_ >= 0) close(lock_);
}

Result<OutputSet> OutputSet::make(const fs::path& shown, const fs::path& directory, std::string_view name,
                                  fs::path target, bool whole, std::vector<fs::path> older) {
  auto folder = make_temporary_directory(directory, name);
  if (!folder) return Error(folder.error().what(), Place::in(shown.string()));
  OutputSet set(std::move(folder->path), folder->descriptor, std::move(target), whole, std::move(older));
  std::error_code status;
  fs::create_directory(set.path_, status);
  if (status) return cannot(set.target_, status);
  return set;
}

Result<OutputSet> OutputSet::directory(const fs::path& target, Directory how) {
  fs::path real = target.has_filename() ? target : target.parent_path();
  FATHOM_CHECK(need_room_for_files(real, "a directory"));
  FATHOM_TRY(real, follow_links(real));
  std::error_code status;
  if (!how.source.empty() && fs::is_directory(how.source, status) && lies_within(real, how.source)) {
    return inside_itself(target, how.source);
  }
  const std::string name = real.filename().string();
  remove_left_behind(real.parent_path(), name);
  if (!fs::exists(real, status)) return make(target, real.parent_path(), name, real, true, {});
  if (!fs::is_directory(real, status)) {
    return Error::usage(fmt::format("{} is a file; a directory would be written", target.string()));
  }
  remove_left_behind(real, name);
  std::vector<fs::path> older;
  for (fs::path& file : files_below(real, status)) {
    if (how.owns && how.owns(file)) {
      older.push_back(std::move(file));
      continue;
    }
    if (how.force) continue;
    return Error::usage(fmt::format("{} exists and holds other files, for example {}; it is left alone",
                                    target.string(), file.string()))
        .hint("--force writes into it: files of the format are replaced, the others stay as they are");
  }
  if (status) return cannot(real, status);
  // Inside of it: the same file system even where it is a mount point.
  return make(target, real, name, real, false, std::move(older));
}

Result<OutputSet> OutputSet::into(const fs::path& directory) {
  std::error_code status;
  const fs::path parent = (directory.has_filename() ? directory : directory.parent_path()).parent_path();
  if (!parent.empty()) fs::create_directories(parent, status);
  return OutputSet::directory(directory, {.owns = {}, .force = true, .source = {}});
}

Result<OutputSet> OutputSet::beside(const fs::path& target, OwnsFile owns) {
  FATHOM_CHECK(need_room_for_files(target, "a set of files"));
  const fs::path directory = target.parent_path();
  const fs::path place = directory.empty() ? fs::path(".") : directory;
  std::vector<fs::path> older;
  std::error_code status;
  for (fs::directory_iterator it(place, status), end; !status && it != end; it.increment(status)) {
    const fs::path name = it->path().filename();
    if (!owns || !owns(name)) continue;
    std::error_code ignored;
    if (!it->is_directory(ignored)) {
      older.push_back(name);
      continue;
    }
    for (const fs::path& file : files_below(it->path(), ignored)) {
      if (owns(name / file)) older.push_back(name / file);
    }
  }
  return make(target, directory, target.filename().string(), place, false, std::move(older));
}

Result<void> OutputSet::commit() {
  if (cancelled()) return cancelled_error();
  if (!whole_) return move_all();
  if (std::rename(path_.c_str(), target_.c_str()) != 0) return cannot(target_, last_error());
  return {};
}

Result<void> OutputSet::move_all() {
  std::error_code status;
  const std::vector<fs::path> added = files_below(path_, status);
  if (status) return cannot(target_, status);
  std::vector<fs::path> removed = older_;
  removed.insert(removed.end(), added.begin(), added.end());

  std::vector<std::pair<fs::path, fs::path>> moves;  // done so far, from and to
  const auto undo = [&](const fs::path& at, const std::error_code& why) -> Error {
    for (auto it = moves.rbegin(); it != moves.rend(); ++it) (void)move_file(it->second, it->first);
    return cannot(at, why);
  };
  const auto move = [&](const fs::path& from, const fs::path& to) {
    std::error_code failed = move_file(from, to);
    if (!failed) moves.emplace_back(from, to);
    return failed;
  };
  for (const fs::path& file : removed) {
    const fs::path at = target_ / file;
    struct stat old {};
    if (lstat(at.c_str(), &old) != 0) continue;
    if (!S_ISREG(old.st_mode) && !S_ISLNK(old.st_mode)) {
      return undo(at, std::make_error_code(S_ISDIR(old.st_mode) ? std::errc::is_a_directory : std::errc::file_exists));
    }
    // As for single files: one that may not be written is not replaced either.
    if (S_ISREG(old.st_mode) && access(at.c_str(), W_OK) != 0) return undo(at, last_error());
    // The new file is no more open to others than the old one was.
    if (S_ISREG(old.st_mode)) (void)chmod((path_ / file).c_str(), old.st_mode & 0777);
    if (const auto failed = move(at, staging_ / kOld / file)) return undo(at, failed);
  }
  {
    auto mark = write_file(staging_ / kMoved, "");
    if (!mark) {
      (void)undo(target_, {});
      return std::move(mark).error();
    }
  }
  for (const fs::path& file : added) {
    if (const auto failed = move(path_ / file, target_ / file)) return undo(target_ / file, failed);
  }
  return {};
}

void recover_output_set(const fs::path& staging) {
  std::error_code status;
  if (fs::exists(staging / kMoved, status)) {
    move_everything(staging / kNew, staging.parent_path());
  } else if (fs::exists(staging / kOld, status)) {
    move_everything(staging / kOld, staging.parent_path());
  }
  fs::remove_all(staging, status);
}

}  // namespace fathom
