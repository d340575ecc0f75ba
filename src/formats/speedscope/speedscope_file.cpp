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

Result<void> read_frames(std::string_view text, std::vector<Frame>& out, const Blob& blob, std::size_t offset) {
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
  // simdjson keeps a few bytes per character while a list is read.
  constexpr std::uint64_t kPerByte = 4;
  FATHOM_TRY(const auto reserved, work->budget.reserve(kPerByte * blob.size(), "frames and profiles of speedscope"));
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
      if (*inner == "frames") FATHOM_CHECK(read_frames(list, file.frames, blob, at + shared.offset_of(list)));
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
      if (*key == "frames") {
        profile.first_frame = file.frames.size();
        FATHOM_CHECK(read_frames(value, file.frames, blob, at + inner.offset_of(value)));
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

Result<std::uint64_t> each_event(const StoredProfile& profile,
                                 const std::function<void(bool, std::size_t, double)>& take) {
  dom::parser parser;
  dom::element root;
  if (const auto code = parser.parse(profile.text.data(), profile.text.size()).get(root)) {
    return Error(fmt::format("profile '{}': {}", profile.name, simdjson::error_message(code)));
  }
  dom::array events;
  if (root["events"].get(events) != simdjson::SUCCESS)
    return Error(fmt::format("profile '{}' has no events", profile.name));
  std::uint64_t bad = 0;
  for (const dom::element one : events) {
    std::string_view type;
    double at = 0;
    std::uint64_t frame = 0;
    if (one["type"].get(type) != simdjson::SUCCESS || one["at"].get(at) != simdjson::SUCCESS ||
        one["frame"].get(frame) != simdjson::SUCCESS || (type != "O" && type != "C")) {
      ++bad;
      continue;
    }
    take(type == "O", profile.first_frame + frame, at);
  }
  return bad;
}

Result<std::uint64_t> each_sample(const StoredProfile& profile,
                                  const std::function<void(std::span<const std::size_t>, double)>& take) {
  dom::parser parser;
  dom::element root;
  if (const auto code = parser.parse(profile.text.data(), profile.text.size()).get(root)) {
    return Error(fmt::format("profile '{}': {}", profile.name, simdjson::error_message(code)));
  }
  dom::array samples;
  dom::array weights;
  if (root["samples"].get(samples) != simdjson::SUCCESS || root["weights"].get(weights) != simdjson::SUCCESS) {
    return Error(fmt::format("profile '{}' has no samples with weights", profile.name));
  }
  std::uint64_t bad = 0;
  std::vector<std::size_t> stack;
  auto weight = weights.begin();
  for (const dom::element one : samples) {
    double value = 0;
    if (weight == weights.end()) {
      ++bad;
      continue;
    }
    const bool has_weight = (*weight).get(value) == simdjson::SUCCESS;
    ++weight;
    dom::array frames;
    if (!has_weight || one.get(frames) != simdjson::SUCCESS) {
      ++bad;
      continue;
    }
    stack.clear();
    bool sound = true;
    for (const dom::element frame : frames) {
      std::uint64_t number = 0;
      sound = sound && frame.get(number) == simdjson::SUCCESS;
      stack.push_back(profile.first_frame + number);
    }
    if (!sound) {
      ++bad;
      continue;
    }
    take(stack, value);
  }
  for (; weight != weights.end(); ++weight) ++bad;  // of no sample
  return bad;
}

}  // namespace fathom::speedscope
