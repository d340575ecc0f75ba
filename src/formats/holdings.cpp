#include "formats/holdings.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <map>

#include "base/text.hpp"
#include "formats/registry.hpp"
#include "formats/unpacked.hpp"
#include "io/directory.hpp"
#include "io/tar.hpp"
#include "io/zip.hpp"

namespace fathom {

namespace {

namespace fs = std::filesystem;

// What must be converted before it can be read, and how.
constexpr std::pair<std::string_view, std::string_view> kUnconverted[] = {
    {".nsys-rep", "convert the report first: nsys export --type sqlite REPORT.nsys-rep"},
    {".qdrep", "convert the report first: nsys export --type sqlite REPORT.qdrep"},
    {".qdstrm", "convert the report first: nsys import, then nsys export --type sqlite"},
    {".ncu-rep", "reports of Nsight Compute are not read; record with Nsight Systems and export as SQLite"},
    {".hpcrun", "this is a measurement of one thread: run 'hpcprof -o DATABASE DIRECTORY' and open the database"},
    {".hpctrace", "this is the trace of one thread: run 'hpcprof -o DATABASE DIRECTORY' and open the database"},
    {".slog2", "SLOG-2 is not read"},
    {"perf.data", "print its samples first: perf script -i perf.data > samples.txt"},
    {"perf.data.old", "print its samples first: perf script -i perf.data.old > samples.txt"},
};

// Profiles that Score-P and Scalasca leave in their experiment directories, the one to look at first in front.
constexpr std::string_view kProfiles[] = {"profile.cubex", "summary.cubex", "trace.cubex", "scout.cubex",
                                          "remapped.cubex"};

std::vector<std::string> names_in(const fs::path& directory) {
  std::vector<std::string> names;
  if (const auto entries = list_directory(directory)) {
    for (const fs::path& path : *entries) names.push_back(path.filename().string());
  }
  return names;
}

bool named_dataset(std::string_view name) {
  return name.ends_with(".cubex") || name.ends_with(".cube") || name.ends_with(".otf2") || name.ends_with(".cube.gz");
}

Result<std::optional<Source>> in_directory(const Source& source, const Work& work) {
  const auto profile =
      std::find_if(std::begin(kProfiles), std::end(kProfiles), [&](std::string_view name) { return source.has(name); });
  if (profile == std::end(kProfiles)) return std::optional<Source>();
  std::vector<std::string> others;
  for (const std::string& name : names_in(source.path())) {
    if (named_dataset(name) && name != *profile) others.push_back(name);
  }
  const fs::path chosen = source.path() / *profile;
  work->diagnostics.info("open.one_of_several", Place::in(source.path().string()),
                         others.empty()
                             ? fmt::format("'{}' in it is opened", *profile)
                             : fmt::format("'{}' in it is opened; there {} also {}: name {} to open {}", *profile,
                                           others.size() == 1 ? "is" : "are", fmt::join(others, ", "),
                                           others.size() == 1 ? "it" : "one", others.size() == 1 ? "it" : "that"));
  FATHOM_TRY(Source inside, Source::at(chosen, work));
  return std::optional<Source>(std::move(inside));
}

// A member of an archive that is a dataset by itself.
Result<std::optional<Source>> chosen_member(const std::vector<std::string>& names,
                                            const std::function<Result<Blob>(const std::string&)>& read,
                                            const Source& source, const Work& work) {
  std::optional<Source> found;
  std::string chosen;
  std::vector<std::string> others;
  for (const std::string& name : names) {
    if (name.ends_with('/') || format_for_extension(name, {}) == nullptr) continue;
    // Traces of several files are told apart by the caller: one member of them is no dataset.
    FATHOM_TRY(Blob blob, read(name));
    Source member = Source::of(std::move(blob));
    const auto recognised = recognise(member);
    if (recognised.empty() || recognised.front().match.confidence != Confidence::certain) continue;
    const auto& reads = recognised.front().format->can.reads;
    const bool several_files = recognised.front().format->name == "otf2" ||
                               recognised.front().format->name == "dumpi" ||
                               recognised.front().format->name == "paraver";
    if (several_files || std::find(reads.begin(), reads.end(), Level::trace) != reads.end()) continue;
    if (found) {
      others.push_back(name);
      continue;
    }
    found = std::move(member);
    chosen = name;
  }
  if (found) {
    work->diagnostics.info("open.one_of_several", Place::in(source.path().string()),
                           others.empty() ? fmt::format("'{}' in the archive is opened", chosen)
                                          : fmt::format("'{}' in the archive is opened; unpack it for the others: {}",
                                                        chosen, fmt::join(others, ", ")));
  }
  return found;
}

std::vector<std::string> members_of(const Source& source, const Work& work) {
  std::vector<std::string> names;
  if (is_zip(source.blob().bytes())) {
    if (const auto zip = ZipReader::open(source.blob())) names = zip->names();
  } else if (TarArchive::looks_like(source.blob().bytes())) {
    if (const auto tar = TarArchive::read(source.blob(), work)) {
      for (const TarMember& member : tar->members()) names.push_back(member.name);
    }
  }
  std::erase_if(names, is_litter);
  return names;
}

// "3 cube files (a.cubex, b.cubex, …)" of the names that formats have endings for.
std::string contents(const std::vector<std::string>& names) {
  std::map<std::string_view, std::vector<std::string>> by_format;
  for (const std::string& name : names) {
    if (const Format* format = format_for_extension(name, {})) by_format[format->name].push_back(name);
  }
  std::string out;
  constexpr std::size_t kNamed = 3;
  for (auto& [format, files] : by_format) {
    const std::size_t count = files.size();
    const bool more = count > kNamed;
    if (more) files.resize(kNamed);
    out += fmt::format("{}{} {} file{} ({}{})", out.empty() ? "" : ", ", count, format, count == 1 ? "" : "s",
                       fmt::join(files, ", "), more ? ", …" : "");
  }
  return out;
}

bool is_archive_name(const std::string& name) {
  constexpr std::array<std::string_view, 7> kEndings = {".tar",    ".tgz",     ".tar.gz", ".tar.zst",
                                                        ".tar.xz", ".tar.bz2", ".zip"};
  const std::string lower = to_lower(name);
  return std::any_of(kEndings.begin(), kEndings.end(),
                     [&](std::string_view ending) { return lower.ends_with(ending); });
}

// Names of files that belong to datasets although their endings are nobody's.
bool belongs_to_dataset(const std::string& name) {
  const std::string file = fs::path(name).filename().string();
  return format_for_extension(file, {}) != nullptr || file == "meta.db" || file == "experiment.xml" ||
         file.ends_with(".obs") ||
         (file.starts_with("profile.") && file.find_first_not_of("0123456789.", 8) == std::string::npos);  // TAU
}

// A profile in the archive is opened in memory; what has several files is unpacked.
Result<std::optional<Source>> in_archive(const Source& source, const Work& work) {
  std::vector<std::string> names;
  std::function<Result<Blob>(const std::string&)> read;
  std::optional<ZipReader> zip;
  std::optional<TarArchive> tar;
  if (is_zip(source.blob().bytes())) {
    FATHOM_TRY(ZipReader opened, ZipReader::open(source.blob()));
    zip.emplace(std::move(opened));
    names = zip->names();
    read = [&](const std::string& name) { return zip->read(name, work); };
  } else if (TarArchive::looks_like(source.blob().bytes())) {
    FATHOM_TRY(tar, TarArchive::read(source.blob(), work));
    for (const TarMember& member : tar->members()) names.push_back(member.name);
    read = [&](const std::string& name) -> Result<Blob> { return tar->find(name)->content; };
  } else {
    return std::optional<Source>();
  }
  std::erase_if(names, is_litter);
  FATHOM_TRY(auto member, chosen_member(names, read, source, work));
  if (member || std::none_of(names.begin(), names.end(), belongs_to_dataset)) return member;
  std::size_t next = 0;
  return unpacked_dataset(
      source,
      [&]() -> Result<std::optional<PackedFile>> {
        while (next < names.size() && names[next].ends_with('/')) ++next;
        if (next == names.size()) return std::optional<PackedFile>();
        const std::string& name = names[next++];
        FATHOM_TRY(Blob content, read(name));
        return std::optional<PackedFile>({name, std::move(content)});
      },
      work);
}

bool may(const fs::path& path, int mode) {
  return faccessat(AT_FDCWD, path.c_str(), mode, AT_EACCESS) == 0 || errno != EACCES;
}

// What is not recognised because we may not look at it.
std::optional<Error> closed_to_us(const fs::path& directory, const std::vector<std::string>& names) {
  if (!may(directory, X_OK)) {
    return Error("the directory may be listed but not searched: Permission denied", Place::in(directory.string()))
        .hint("its owner can allow it: chmod +x");
  }
  for (const std::string& name : names) {
    if (may(directory / name, R_OK)) continue;
    return Error(
        fmt::format("no format recognises the directory, in which '{}' may not be read: Permission denied", name),
        Place::in(directory.string()));
  }
  return std::nullopt;
}

}  // namespace

std::string_view conversion_hint(std::string_view file_name) {
  for (const auto& [ending, hint] : kUnconverted) {
    if (file_name.ends_with(ending)) return hint;
  }
  return {};
}

Result<std::optional<Source>> dataset_inside(const Source& source, const Work& work) {
  if (source.is_directory()) return in_directory(source, work);
  return in_archive(source, work);
}

bool is_archive_of_files(const Source& source, const Work& work) {
  if (source.is_directory()) return false;
  const auto members = members_of(source, work);
  // A profile without its description is a damaged profile, not a bag of files, when it is called one.
  return !contents(members).empty() || (!members.empty() && source.path().extension() != ".cubex");
}

Error unrecognised(const Source& source, const Work& work) {
  const Place place = Place::in(source.path().string());
  constexpr const char* kUsual = "'fathom formats' lists what is read; --format F forces one";
  if (!source.is_directory()) {
    if (source.blob().size() == 0) return Error("is empty", place).hint(kUsual);
    if (const auto hint = conversion_hint(source.path().filename().string()); !hint.empty()) {
      return Error("is of a format that must be converted first", place).hint(std::string(hint));
    }
    const auto members = members_of(source, work);
    if (!members.empty()) {
      const std::string what = contents(members);
      const auto inner = std::find_if(members.begin(), members.end(), is_archive_name);
      return Error(!what.empty() ? fmt::format("is an archive with {}", what)
                   : inner != members.end()
                       ? fmt::format("is an archive with another one in it, '{}': only one is unpacked", *inner)
                       : fmt::format("is an archive of {} member{}, none of them a dataset", members.size(),
                                     members.size() == 1 ? "" : "s"),
                   place)
          .hint(fmt::format("unpack it with '{} {}' and name what it holds",
                            is_zip(source.blob().bytes()) ? "unzip" : "tar xf", source.path().string()));
    }
    return Error("is of no format that Fathom knows", place).hint(kUsual);
  }
  const auto names = names_in(source.path());
  if (auto closed = closed_to_us(source.path(), names)) return *std::move(closed);
  const auto first_with = [&](std::string_view ending) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return name.ends_with(ending); });
  };
  if (first_with(".hpcrun")) {
    return Error("is a measurement directory of HPCToolkit, not a database", place)
        .hint(fmt::format("run hpcprof first: hpcprof -o DATABASE {}", source.path().string()));
  }
  for (const std::string& name : names) {
    if (const auto hint = conversion_hint(name); !hint.empty()) {
      return Error(fmt::format("is a directory with '{}' in it", name), place).hint(std::string(hint));
    }
  }
  if (const std::string what = contents(names); !what.empty()) {
    return Error(fmt::format("is a directory with {}", what), place)
        .hint(
            "name one of them; for a series of runs give them all ('fathom model DIRECTORY/*'), or name them after "
            "their parameters");
  }
  return Error(names.empty() ? "is an empty directory" : "is a directory that no format recognises", place)
      .hint(kUsual);
}

}  // namespace fathom
