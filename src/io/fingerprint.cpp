#include "io/fingerprint.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <vector>

#include "io/temporary.hpp"

namespace fathom {

namespace fs = std::filesystem;

void Fingerprint::byte(unsigned char value) {
  low_ = (low_ ^ value) * 0x100000001B3U;
  high_ = ((high_ << 5) | (high_ >> 59)) ^ ((high_ + value) * 0x9E3779B97F4A7C15U);
}

void Fingerprint::add(std::uint64_t number) {
  for (int i = 0; i < 8; ++i) byte(static_cast<unsigned char>(number >> (8 * i)));
}

// With its length, so that two texts in a row are not another two.
void Fingerprint::add(std::string_view text) {
  add(text.size());
  for (const char c : text) byte(static_cast<unsigned char>(c));
}

void Fingerprint::add_file(const fs::path& path) {
  struct stat status {};
  add(std::string_view(path.string()));
  if (stat(path.c_str(), &status) != 0) return;
  add(static_cast<std::uint64_t>(status.st_size));
  add(static_cast<std::uint64_t>(status.st_mtim.tv_sec));
  add(static_cast<std::uint64_t>(status.st_mtim.tv_nsec));
  add(static_cast<std::uint64_t>(status.st_ino));
}

void Fingerprint::add_files(const fs::path& given, std::string_view except) {
  std::error_code ignored;
  fs::path path = fs::absolute(given, ignored).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  std::vector<fs::path> files;
  const auto take = [&](const fs::path& file) {
    const std::string name = file.filename().string();
    if (!name.ends_with(except) && !is_temporary_name(name)) files.push_back(file);
  };
  const auto below = [&](const fs::path& directory) {
    for (fs::recursive_directory_iterator entry(directory, fs::directory_options::skip_permission_denied, ignored), end;
         !ignored && entry != end; entry.increment(ignored)) {
      if (!entry->is_directory(ignored)) take(entry->path());
    }
  };
  if (fs::is_directory(path, ignored)) {
    below(path);
  } else {
    const std::string stem = path.stem().string();
    for (fs::directory_iterator entry(path.parent_path(), ignored), end; !ignored && entry != end;
         entry.increment(ignored)) {
      if (!entry->path().filename().string().starts_with(stem)) continue;
      if (entry->is_directory(ignored)) {
        below(entry->path());
      } else {
        take(entry->path());
      }
    }
  }
  std::sort(files.begin(), files.end());
  add(files.size());
  for (const fs::path& file : files) add_file(file);
}

std::string Fingerprint::text() const { return fmt::format("{:016x}{:016x}", high_, low_); }

}  // namespace fathom
