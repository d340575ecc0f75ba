#include "formats/unpacked.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <mutex>

#include "base/shown_files.hpp"
#include "formats/registry.hpp"
#include "io/directory.hpp"
#include "io/output_file.hpp"
#include "io/temporary.hpp"

namespace fathom {

namespace {

namespace fs = std::filesystem;

// The files of an archive, for as long as this exists.
struct Unpacked {
  std::unique_ptr<TemporaryFolder> folder;
  ShownAsArchive shown;
};

// Datasets open their files when they need them, so a folder stays as long as the work that its dataset belongs to.
// MT: safe.
class Folders {
 public:
  void keep(std::unique_ptr<Unpacked> folder, const Work& work) {
    const std::scoped_lock lock(mutex_);
    std::erase_if(kept_, [](const Kept& one) { return one.work.expired(); });
    kept_.push_back({std::move(folder), work});
  }

 private:
  struct Kept {
    std::unique_ptr<Unpacked> folder;
    std::weak_ptr<WorkContext> work;
  };
  std::mutex mutex_;
  std::vector<Kept> kept_;
};

Folders& folders() {
  static Folders all;
  return all;
}

// Below the folder, whatever the archive says.
Result<fs::path> safe_path(const fs::path& folder, const std::string& name, const Source& archive) {
  const fs::path inside = fs::path(name).lexically_normal();
  if (inside.empty() || inside.is_absolute() || *inside.begin() == "..") {
    return Error(fmt::format("member '{}' would be written outside of the directory it is unpacked into", name),
                 Place::in(archive.path().string()));
  }
  return folder / inside;
}

Result<void> unpack(const Source& archive, const PackedFiles& files, const fs::path& folder) {
  std::error_code status;
  for (;;) {
    FATHOM_TRY(auto file, files());
    if (!file) return {};
    if (file->name.ends_with('/')) continue;
    FATHOM_TRY(const fs::path target, safe_path(folder, file->name, archive));
    fs::create_directories(target.parent_path(), status);
    if (status) return Error(fmt::format("cannot be unpacked: {}", status.message()), Place::in(target.string()));
    FATHOM_CHECK(write_file(target, file->content.text()));
  }
}

// Directories that are a dataset come before files that are one, those further up before those further down.
Result<std::vector<Source>> datasets_below(const fs::path& folder, const Work& work) {
  const auto is_dataset = [](const Source& source) {
    const auto found = recognise(source);
    return !found.empty() && found.front().match.confidence >= Confidence::likely;
  };
  std::vector<Source> out;
  std::deque<fs::path> waiting{folder};
  while (!waiting.empty()) {
    const fs::path at = waiting.front();
    waiting.pop_front();
    FATHOM_TRY(Source source, Source::at(at, work));
    FATHOM_TRY(const auto entries, list_directory(at));
    if (at != folder && is_dataset(source)) {
      out.push_back(std::move(source));
      continue;
    }
    for (const fs::path& entry : entries) {
      std::error_code status;
      if (fs::is_directory(entry, status)) {
        waiting.push_back(entry);
      } else if (format_for_extension(entry, {}) != nullptr) {
        FATHOM_TRY(Source file, Source::at(entry, work));
        if (is_dataset(file)) out.push_back(std::move(file));
      }
    }
  }
  return out;
}

}  // namespace

Result<std::optional<Source>> unpacked_dataset(const Source& archive, const PackedFiles& files, const Work& work) {
  FATHOM_TRY(auto made, TemporaryFolder::make(archive.path().filename().string()));
  const fs::path folder = made->path();
  std::unique_ptr<Unpacked> kept(new Unpacked{std::move(made), {folder.string(), archive.path().string()}});
  FATHOM_CHECK(unpack(archive, files, folder));
  // Archives mostly hold one folder with everything in it: that is what was packed.
  std::error_code status;
  FATHOM_TRY(const auto entries, list_directory(folder));
  const bool one_folder = entries.size() == 1 && fs::is_directory(entries.front(), status);
  const fs::path top = one_folder ? entries.front() : folder;
  FATHOM_TRY(Source whole, Source::at(top, work));
  std::optional<Source> chosen;
  std::vector<std::string> others;
  const auto found = recognise(whole);
  if (!found.empty() && found.front().match.confidence >= Confidence::likely) {
    chosen = std::move(whole);
    if (one_folder) others.push_back(top.lexically_relative(folder).string());
  } else {
    FATHOM_TRY(std::vector<Source> all, datasets_below(folder, work));
    for (const Source& one : all) others.push_back(one.path().lexically_relative(folder).string());
    if (all.empty()) return std::optional<Source>();
    chosen = std::move(all.front());
  }
  const std::string name = others.empty() ? std::string("what it holds") : fmt::format("'{}' in it", others.front());
  if (!others.empty()) others.erase(others.begin());
  work->diagnostics.info(
      "open.one_of_several", Place::in(archive.path().string()),
      fmt::format("is unpacked into a temporary directory, {} is opened{}{}", name,
                  others.empty() ? "" : "; unpack it yourself for the others: ", fmt::join(others, ", ")));
  folders().keep(std::move(kept), work);
  return chosen;
}

}  // namespace fathom
