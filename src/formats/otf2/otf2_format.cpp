#include "formats/otf2/otf2_format.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "formats/otf2/otf2_dataset.hpp"
#include "formats/otf2/rewrite.hpp"
#include "formats/otf2/trace_writer.hpp"
#include "formats/reading_options.hpp"
#include "io/file.hpp"
#include "io/opened_files.hpp"
#include "trace/samples.hpp"

namespace fathom::otf2 {

namespace {

namespace fs = std::filesystem;

bool is_anchor_file(const fs::path& path) {
  const auto blob = map_file(path);
  return blob.ok() && is_anchor(blob->text().substr(0, 16));
}

// Anchors in a directory, in the order of their names.
std::vector<fs::path> anchors_in(const fs::path& directory) {
  std::vector<fs::path> found;
  std::error_code status;
  for (const auto& entry : fs::directory_iterator(directory, status)) {
    if (entry.path().extension() == ".otf2" && is_anchor_file(entry.path())) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

// The directory of events, or one of an archive's other files, leads to the anchor.
std::optional<fs::path> anchor_of_part(const fs::path& path) {
  const fs::path given = path.has_filename() ? path : path.parent_path();
  fs::path anchor = given;
  std::error_code status;
  if (given.extension() == ".evt") {
    anchor = given.parent_path();
  } else if (given.extension() == ".def" && !fs::is_directory(given, status)) {
    anchor = fs::path(given).replace_extension();
    if (!fs::exists(anchor.string() + ".otf2", status)) anchor = given.parent_path();
  }
  anchor += ".otf2";
  if (!fs::is_regular_file(anchor, status) || !is_anchor_file(anchor)) return std::nullopt;
  return anchor;
}

Match recognise(const Source& source) {
  if (!source.is_directory()) {
    if (is_anchor(source.head(16))) return {Confidence::certain, "starts with a byte order and 'OTF2'"};
    const std::string extension = source.path().extension().string();
    if ((extension == ".evt" || extension == ".def") && anchor_of_part(source.path())) {
      return {Confidence::likely, "is part of an archive whose anchor is beside it"};
    }
    return {};
  }
  const auto anchors = anchors_in(source.path());
  if (anchors.size() == 1) return {Confidence::certain, fmt::format("holds {}", anchors[0].filename().string())};
  if (anchors.size() > 1) return {Confidence::maybe, fmt::format("holds {} OTF2 anchors", anchors.size())};
  if (anchor_of_part(source.path())) return {Confidence::likely, "is the directory of an archive's events"};
  return {};
}

Result<DatasetPtr> open(const Source& source, const Work& work) {
  fs::path anchor = source.path();
  if (source.is_directory()) {
    const auto anchors = anchors_in(source.path());
    if (anchors.size() > 1) {
      return Error::usage(fmt::format("{} holds {} OTF2 archives", source.path().string(), anchors.size()))
          .hint(fmt::format("name one: {}, {}", anchors[0].string(), anchors[1].string()));
    }
    if (anchors.size() == 1) anchor = anchors[0];
  }
  if (!is_anchor(source.head(16))) {
    if (const auto found = anchor_of_part(anchor)) anchor = *found;
  }
  FATHOM_TRY(auto archive, Archive::open(files_beside(anchor), work));
  // Events are read when they are asked for.
  expect_inputs(anchor.parent_path(), anchor.filename().string(),
                [name = anchor.stem().string()](const fs::path& file) { return is_archive_file(file, name); });
  return DatasetPtr(std::make_unique<Otf2Dataset>(format(), source.path(), anchor, work, std::move(archive)));
}

Result<void> write(Dataset& dataset, const fs::path& target, const WriteOptions&) {
  FATHOM_TRY(const auto trace, dataset.trace());
  return write_trace(*trace, target, dataset.work());
}

std::vector<CatalogueEntry> catalogue() {
  std::vector<CatalogueEntry> entries;
  const auto add = [&](std::span<const RecordKind> kinds, std::string_view group) {
    for (const RecordKind& kind : kinds) {
      entries.push_back({std::string(kind.name), std::string(group), std::string(kind.fields), {}, {}});
    }
  };
  add(event_kinds(), "event");
  add(definition_kinds(), "definition");
  return entries;
}

}  // namespace

const Format& format() {
  static const Format kFormat{.name = "otf2",
                              .title = "OTF2 trace archive",
                              .extensions = ".otf2",
                              .can = {{Level::trace}, {Level::trace}},
                              .recognise = recognise,
                              .open = open,
                              .write = write,
                              .catalogue = catalogue,
                              .options = {.reading = {&kWaits}, .statistics = {&kDepth}},
                              .shared = {.writes_trace = true}};
  return kFormat;
}

}  // namespace fathom::otf2
