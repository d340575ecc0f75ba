#include "base/shown_files.hpp"

#include <atomic>
#include <map>
#include <mutex>

namespace fathom {

namespace {

struct Folders {
  std::mutex mutex;
  std::map<std::string, std::string> archives;  // by folder
  std::atomic<bool> any = false;                // places are made often, archives are rare
};

Folders& folders() {
  static Folders all;
  return all;
}

}  // namespace

ShownAsArchive::ShownAsArchive(std::string folder, std::string archive) : folder_(std::move(folder)) {
  Folders& all = folders();
  const std::scoped_lock lock(all.mutex);
  all.archives[folder_] = std::move(archive);
  all.any = true;
}

ShownAsArchive::~ShownAsArchive() {
  Folders& all = folders();
  const std::scoped_lock lock(all.mutex);
  all.archives.erase(folder_);
  all.any = !all.archives.empty();
}

std::string shown_file(std::string file) {
  Folders& all = folders();
  if (!all.any) return file;
  const std::scoped_lock lock(all.mutex);
  for (const auto& [folder, archive] : all.archives) {
    if (!file.starts_with(folder)) continue;
    if (file.size() == folder.size()) return archive;
    if (file[folder.size()] == '/') return archive + "(" + file.substr(folder.size() + 1) + ")";
  }
  return file;
}

}  // namespace fathom
