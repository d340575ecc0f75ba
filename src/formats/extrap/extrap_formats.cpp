#include "formats/extrap/extrap_formats.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "formats/experiment_dataset.hpp"
#include "formats/extrap/json_reader.hpp"
#include "formats/extrap/lines_reader.hpp"
#include "formats/extrap/text_reader.hpp"
#include "formats/extrap/writers.hpp"
#include "formats/reading_options.hpp"

namespace fathom::extrap {
namespace {

// The character that the value of a key starts with, where the key occurs for the first time; 0 when it does not.
char value_start(std::string_view text, std::string_view quoted_key) {
  auto at = text.find(quoted_key);
  while (at != std::string_view::npos) {
    std::size_t next = text.find_first_not_of(" \t\r\n", at + quoted_key.size());
    if (next != std::string_view::npos && text[next] == ':') {
      next = text.find_first_not_of(" \t\r\n", next + 1);
      return next == std::string_view::npos ? '\0' : text[next];
    }
    at = text.find(quoted_key, at + 1);
  }
  return 0;
}

bool starts_with_object(std::string_view head) {
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  return trim(head).starts_with('{');
}

std::string_view first_line(std::string_view head) {
  head = trim(head);
  return head.substr(0, head.find('\n'));
}

Match recognise_text_file(const Source& source) {
  if (source.is_directory()) return {};
  return recognise_text(source.head());
}

Match recognise_talpas(const Source& source) {
  if (source.is_directory() || !starts_with_object(source.head())) return {};
  const std::string_view line = first_line(source.head());
  if (value_start(line, "\"parameters\"") != '{' || line.find("\"metric\"") == std::string_view::npos) return {};
  return {Confidence::certain, "its first line is an object with 'parameters' and 'metric'"};
}

Match recognise_json_lines(const Source& source) {
  if (source.is_directory() || !starts_with_object(source.head())) return {};
  if (value_start(source.head(), "\"params\"") != '{') return {};
  return {Confidence::certain, "its first line is an object with 'params'"};
}

Match recognise_json(const Source& source) {
  if (source.is_directory() || !starts_with_object(source.head())) return {};
  const std::string_view head = source.head();
  const char measurements = value_start(head, "\"measurements\"");
  const char parameters = value_start(head, "\"parameters\"");
  if (parameters == '[' && (measurements == '{' || measurements == '[')) {
    return {Confidence::certain, "an object with 'parameters' and 'measurements'"};
  }
  if (parameters == '[' || measurements == '{' || value_start(head, "\"callpaths\"") == '[' ||
      value_start(head, "\"coordinates\"") == '[') {
    return {Confidence::likely, "an object with keys of an Extra-P experiment"};
  }
  return {};
}

DatasetPtr dataset(const Format& format, const Source& source, const Work& work, ExperimentPtr experiment,
                   std::string version = {}) {
  return std::make_unique<ExperimentDataset>(format, source.path(), work, std::move(experiment), std::move(version));
}

Result<void> need_file(const Source& source, std::string_view what) {
  if (!source.is_directory()) return {};
  return Error(fmt::format("is a directory, not {}", what), Place::in(source.path().string()));
}

Result<DatasetPtr> open_text(const Source& source, const Work& work) {
  FATHOM_CHECK(need_file(source, "an Extra-P text file"));
  FATHOM_TRY(auto experiment, read_text(source.blob(), work));
  return dataset(text_format(), source, work, std::move(experiment));
}

Result<DatasetPtr> open_talpas(const Source& source, const Work& work) {
  FATHOM_CHECK(need_file(source, "a TaLPas file"));
  FATHOM_TRY(auto experiment, read_talpas(source.blob(), work));
  return dataset(talpas_format(), source, work, std::move(experiment));
}

Result<DatasetPtr> open_json_lines(const Source& source, const Work& work) {
  FATHOM_CHECK(need_file(source, "a JSON Lines file"));
  FATHOM_TRY(auto experiment, read_json_lines(source.blob(), work));
  return dataset(json_lines_format(), source, work, std::move(experiment));
}

Result<DatasetPtr> open_json(const Source& source, const Work& work) {
  FATHOM_CHECK(need_file(source, "a JSON file"));
  // Extra-P takes JSON Lines under the same name.
  if (recognise_json_lines(source).confidence == Confidence::certain) return open_json_lines(source, work);
  FATHOM_TRY(auto experiment, read_json(source.blob(), work));
  return dataset(json_format(), source, work, std::move(experiment));
}

Capabilities reads_and_writes() { return {{Level::experiment}, {Level::experiment}}; }

}  // namespace

const Format& text_format() {
  static const Format kFormat = {.name = "extrap-text",
                                 .title = "Extra-P text experiment",
                                 .extensions = ".extrap.txt .txt",
                                 .can = reads_and_writes(),
                                 .recognise = recognise_text_file,
                                 .open = open_text,
                                 .write = write_text,
                                 .options = {.reading = {&kAllowIncomplete, &kMultiplyBy}}};
  return kFormat;
}

const Format& talpas_format() {
  static const Format kFormat = {.name = "talpas",
                                 .title = "TaLPas experiment",
                                 .extensions = ".talpas",
                                 .can = {{Level::experiment}, {}},
                                 .recognise = recognise_talpas,
                                 .open = open_talpas,
                                 .write = nullptr,
                                 .options = {.reading = {&kAllowIncomplete, &kMultiplyBy}}};
  return kFormat;
}

const Format& json_format() {
  static const Format kFormat = {.name = "extrap-json",
                                 .title = "Extra-P JSON experiment",
                                 .extensions = ".extrap.json .json",
                                 .can = reads_and_writes(),
                                 .recognise = recognise_json,
                                 .open = open_json,
                                 .write = write_json,
                                 .options = {.reading = {&kAllowIncomplete, &kMultiplyBy}}};
  return kFormat;
}

const Format& json_lines_format() {
  static const Format kFormat = {.name = "extrap-jsonl",
                                 .title = "Extra-P JSON Lines experiment",
                                 .extensions = ".jsonl",
                                 .can = reads_and_writes(),
                                 .recognise = recognise_json_lines,
                                 .open = open_json_lines,
                                 .write = write_json_lines,
                                 .options = {.reading = {&kAllowIncomplete, &kMultiplyBy}}};
  return kFormat;
}

}  // namespace fathom::extrap
