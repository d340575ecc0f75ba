#include "formats/speedscope/speedscope_file.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include "io/json_scanner.hpp"

namespace fathom::speedscope {

namespace dom = simdjson::dom;

namespace {

std::string text_of(std::string_view value) {
  if (value.size() < 2 || value.front() != '"') return {};
  auto text = json_unescape(value.substr(1, value.size() - 2));
  return text ? *std::move(text) : std::string(value);
}
double number_of(std::string_view value) {
  dom::parser parser;
  double number = 0;
  if (parser.parse(value.data(), value.size()).get(number) != simdjson::SUCCESS) return 0;
  return number;
}

Result<void> read_frames(std::string_view text, std::vector<Frame>& out, const Blob& blob, std::size_t offset,
                         const Work& work) {
  FATHOM_TRY(const auto reserved, room_to_parse(text, work));
  dom::parser parser;
  dom::array list;
  if (parser.parse(text.data(), text.size()).get(list) != simdjson::SUCCESS) {
    return Error("the list of frames cannot be read", blob.place(offset));
  }
  for (const dom::element one : list) {
    Frame frame;
    std::string_view part;
    std::int64_t line = 0;
    if (one["name"].get(part) == simdjson::SUCCESS) frame.name = part;
    if (one["file"].get(part) == simdjson::SUCCESS) frame.file = part;
    if (one["line"].get(line) == simdjson::SUCCESS) frame.line = line;
    out.push_back(std::move(frame));
  }
  return {};
}

}  // namespace

Result<Budget::Reservation> room_to_parse(std::string_view text, const Work& work) {
  constexpr std::uint64_t kPerByte = 4;
  return work->budget.reserve(kPerByte * text.size(), "frames and profiles of speedscope");
}

double nanoseconds_of(std::string_view unit) {
  return unit == "seconds" ? 1e9 : unit == "milliseconds" ? 1e6 : unit == "microseconds" ? 1e3 : 1;
}

Result<SpeedscopeFile> read_file(const Blob& blob, const Work& work) {
  SpeedscopeFile file;
  JsonScanner scanner(blob);
  if (!scanner.expect('{')) return scanner.status().error();
  bool first = true;
  bool found = false;
  std::vector<std::string_view> profiles;
  while (const auto key = scanner.next_key(first)) {
    if (*key == "profiles" && scanner.accept('[')) {
      found = true;
      bool first_element = true;
      while (scanner.next_element(first_element)) profiles.push_back(scanner.skip_value());
      if (!scanner.ok()) return scanner.status().error();
      continue;
    }
    const std::string_view value = scanner.skip_value();
    if (!scanner.ok()) return scanner.status().error();
    if (*key == "name") file.name = text_of(value);
    if (*key == "exporter") file.exporter = text_of(value);
    if (*key != "shared") continue;
    const std::size_t at = scanner.offset_of(value);
    JsonScanner shared(blob.part(at, value.size()));
    bool first_key = true;
    if (!shared.expect('{')) return shared.status().error();
    while (const auto inner = shared.next_key(first_key)) {
      const std::string_view list = shared.skip_value();
      if (!shared.ok()) return shared.status().error();
      if (*inner == "frames") FATHOM_CHECK(read_frames(list, file.frames, blob, at + shared.offset_of(list), work));
    }
  }
  if (!scanner.ok()) return scanner.status().error();
  if (!found) return Error("has no list \"profiles\"", blob.place());
  for (const std::string_view text : profiles) {
    const std::size_t at = scanner.offset_of(text);
    StoredProfile profile;
    profile.text = text;
    JsonScanner inner(blob.part(at, text.size()));
    if (!inner.expect('{')) return inner.status().error();
    bool first_key = true;
    std::string type;
    while (const auto key = inner.next_key(first_key)) {
      const std::string_view value = inner.skip_value();
      if (!inner.ok()) return inner.status().error();
      if (*key == "name") profile.name = text_of(value);
      if (*key == "unit") profile.unit = text_of(value);
      if (*key == "type") type = text_of(value);
      if (*key == "startValue") profile.start = number_of(value);
      if (*key == "endValue") profile.end = number_of(value);
      for (const auto& [name, list] : {std::pair("events", &profile.events), std::pair("samples", &profile.samples),
                                       std::pair("weights", &profile.weights)}) {
        if (*key == name && list->empty()) *list = value;
      }
      if (*key == "frames") {
        profile.first_frame = file.frames.size();
        FATHOM_CHECK(read_frames(value, file.frames, blob, at + inner.offset_of(value), work));
      }
    }
    if (!inner.ok()) return inner.status().error();
    profile.evented = type == "evented";
    if (!profile.evented && type != "sampled") {
      FATHOM_CHECK(work->diagnostics.lost("speedscope.profile_type", blob.place(at),
                                          fmt::format("a profile of type '{}' is left out", type)));
      continue;
    }
    file.profiles.push_back(std::move(profile));
  }
  return file;
}

}  // namespace fathom::speedscope
