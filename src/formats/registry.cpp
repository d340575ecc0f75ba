#include "formats/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "formats/cube/cube_format.hpp"
#include "formats/cube3/cube3_format.hpp"
#include "formats/dumpi/dumpi_format.hpp"
#include "formats/extra_prof/extra_prof_format.hpp"
#include "formats/extrap/extrap_formats.hpp"
#include "formats/hpctoolkit/hpctoolkit_format.hpp"
#include "formats/nsight/nsight_format.hpp"
#include "formats/otf2/otf2_format.hpp"
#include "formats/ovni/ovni_format.hpp"
#include "formats/paraver/paraver_format.hpp"
#include "formats/runs/runs_format.hpp"
#include "io/directory.hpp"
#include "io/file.hpp"

namespace fathom {

std::span<const Format* const> all_formats() {
  static const std::array kFormats = {
      &cube::format(),
      &cube3::format(),
      &dumpi::format(),
      &dumpi::text_format(),
      &hpctoolkit::meta_format(),
      &hpctoolkit::xml_format(),
      &ovni::format(),
      &hpctoolkit::classic_format(),
      &paraver::format(),
      &otf2::format(),
      &extrap::text_format(),
      &extrap::talpas_format(),
      &extrap::json_format(),
      &extrap::json_lines_format(),
      &extrap::extra_p_format(),
      &extrap::extra_p_3_format(),
      &extra_prof::format(),
      &nsight::format(),
      &runs::format(),
  };
  return kFormats;
}

Result<Source> Source::at(const std::filesystem::path& path, const Work& work) {
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

std::vector<Recognition> recognise(const Source& source) {
  std::vector<Recognition> found;
  for (const Format* format : all_formats()) {
    if (format->recognise == nullptr) continue;
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
    if (found.empty()) {
      if (source.is_directory()) {
        if (auto entries = list_directory(source.path()); !entries) return std::move(entries).error();
      }
      return Error(source.is_directory()       ? "is a directory that no format recognises"
                   : source.blob().size() == 0 ? "is empty"
                                               : "is of no format that Fathom knows",
                   Place::in(source.path().string()))
          .hint("'fathom formats' lists what is read; --from F forces one");
    }
    format = found.front().format;
  }
  if (format->open == nullptr) return Error::usage(fmt::format("{} can be written but not read", format->name));
  auto dataset = format->open(source, work);
  if (!dataset) return std::move(dataset).error().where(Place::in(source.path().string()));
  return dataset;
}

Result<DatasetPtr> open_dataset(const std::filesystem::path& path, const Work& work, std::string_view from) {
  FATHOM_TRY(const Source source, Source::at(path, work));
  return open_source(source, work, from);
}

}  // namespace fathom
