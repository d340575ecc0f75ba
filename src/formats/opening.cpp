// How a path becomes a dataset, whatever the formats are.
#include <fmt/format.h>

#include <algorithm>

#include "base/self_profile.hpp"
#include "base/text.hpp"
#include "formats/holdings.hpp"
#include "formats/registry.hpp"
#include "io/directory.hpp"
#include "io/file.hpp"
#include "profile/expression/program.hpp"

namespace fathom {

Result<Source> Source::at(const std::filesystem::path& path, const Work& work) {
  FATHOM_CHECK(check_path(path));
  std::error_code status;
  if (std::filesystem::is_directory(path, status)) return Source(path, {}, true);
  FATHOM_TRY(Blob blob, open_file(path, work));
  return Source(path, std::move(blob), false);
}

bool Source::has(std::string_view entry) const {
  std::error_code status;
  return is_directory_ && std::filesystem::exists(path_ / entry, status);
}

Result<const Format*> find_format(std::string_view name) {
  std::vector<std::string> names;
  for (const Format* format : all_formats()) {
    if (format->name == name) return format;
    names.emplace_back(format->name);
  }
  return Error::usage(fmt::format("unknown format '{}'{}", name, did_you_mean(name, names)))
      .hint("'fathom formats' lists them");
}

bool writes_one_of(const Format& format, std::span<const Level> levels) {
  return format.write != nullptr && std::any_of(format.can.writes.begin(), format.can.writes.end(), [&](Level level) {
           return std::find(levels.begin(), levels.end(), level) != levels.end();
         });
}

const Format* format_for_extension(const std::filesystem::path& path, std::span<const Level> levels) {
  const std::string name = to_lower(path.filename().string());
  const Format* found = nullptr;
  for (const Format* format : all_formats()) {
    for (const std::string_view extension : split(format->extensions, ' ')) {
      if (extension.empty() || !name.ends_with(extension)) continue;
      if (writes_one_of(*format, levels)) return format;
      if (found == nullptr) found = format;
    }
  }
  return found;
}

std::vector<ReadingOption> reading_options() {
  std::vector<ReadingOption> out;
  for (const Format* format : all_formats()) {
    for (const OptionDeclaration* option : format->options.reading) {
      auto found = std::find_if(out.begin(), out.end(), [&](const ReadingOption& one) { return one.option == option; });
      if (found == out.end()) found = out.insert(out.end(), {option, {}});
      found->formats.push_back(format);
    }
  }
  return out;
}

Result<void> set_reading_option(WorkContext& work, std::string_view name, std::string_view text) {
  std::vector<const OptionDeclaration*> known = {&expression::kMaxSteps};
  for (const ReadingOption& one : reading_options()) known.push_back(one.option);
  FATHOM_TRY(const OptionDeclaration* option, find_option(known, name, "reading"));
  return work.options.set_text(*option, text);
}

Result<void> check_options(const Format& format, const std::vector<const OptionDeclaration*>& declared,
                           std::span<const std::pair<std::string, std::string>> given, std::string_view purpose) {
  for (const auto& [key, value] : given) {
    FATHOM_CHECK(find_option(declared, key, fmt::format("{}, {},", format.name, purpose)));
  }
  return {};
}

std::vector<Recognition> recognise(const Source& source, bool (*asked)(const Format&)) {
  std::vector<Recognition> found;
  for (const Format* format : all_formats()) {
    if (format->recognise == nullptr || (asked != nullptr && !asked(*format))) continue;
    Match match = format->recognise(source);
    if (match.confidence != Confidence::no) found.push_back({format, std::move(match)});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.match.confidence > b.match.confidence; });
  return found;
}

Result<DatasetPtr> open_source(const Source& source, const Work& work, std::string_view from) {
  const Format* format = nullptr;
  if (!from.empty()) {
    FATHOM_TRY(format, find_format(from));
  } else {
    const auto found = recognise(source);
    // Any tar archive may be a profile; one that looks like a bag of files is looked into.
    const bool doubtful = found.empty() || found.front().match.confidence == Confidence::maybe;
    if (source.is_directory() || doubtful) {
      FATHOM_TRY(const auto inside, dataset_inside(source, work));
      if (inside) return open_source(*inside, work, from);
    }
    if (found.empty() || (doubtful && is_archive_of_files(source, work))) {
      if (source.is_directory()) {
        if (auto entries = list_directory(source.path()); !entries) return std::move(entries).error();
      }
      return unrecognised(source, work);
    }
    format = found.front().format;
  }
  if (format->open == nullptr) return Error::usage(fmt::format("{} can be written but not read", format->name));
  const Phase phase("open");
  auto dataset = format->open(source, work);
  if (!dataset) return std::move(dataset).error().where(Place::in(source.path().string()));
  return dataset;
}

Result<DatasetPtr> open_dataset(const std::filesystem::path& path, const Work& work, std::string_view from) {
  FATHOM_TRY(const Source source, [&] {
    const Phase phase("open");
    return Source::at(path, work);
  }());
  return open_source(source, work, from);
}

}  // namespace fathom
