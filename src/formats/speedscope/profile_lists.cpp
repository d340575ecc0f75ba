#include "formats/speedscope/profile_lists.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cstring>

#include "io/plain_json.hpp"

namespace fathom::speedscope {

namespace dom = simdjson::dom;

namespace {

constexpr FrameNumber kNoFrame = UINT32_MAX;

FrameNumber frame_of(const StoredProfile& profile, std::uint64_t number) {
  return number < kNoFrame - profile.first_frame ? static_cast<FrameNumber>(profile.first_frame + number) : kNoFrame;
}

// {"type":"O","frame":3,"at":0.5}, whatever the order.
struct EventPiece {
  struct Event {
    double at;
    FrameNumber frame;
    bool opens;
  };
  std::vector<Event> events;

  bool read(std::string_view text, const StoredProfile& profile) {
    events.clear();
    PlainJson json(text);
    do {
      Event event;
      if (!json.accept('{') || !read_event(json, event)) return false;
      event.frame = frame_of(profile, event.frame);
      events.push_back(event);
    } while (json.accept(','));
    return json.at_end();
  }

 private:
  static bool read_event(PlainJson& json, Event& event) {
    bool has_type = false, has_frame = false, has_at = false;
    for (int i = 0; i < 3; ++i) {
      if (i > 0 && !json.accept(',')) return false;
      if (!has_type && json.accept("\"type\"")) {
        has_type = true;
        if (!json.accept(':')) return false;
        event.opens = json.accept("\"O\"");
        if (!event.opens && !json.accept("\"C\"")) return false;
      } else if (!has_frame && json.accept("\"frame\"")) {
        has_frame = true;
        if (!json.accept(':') || !json.natural(event.frame)) return false;
      } else if (!has_at && json.accept("\"at\"")) {
        has_at = true;
        JsonNumber number;
        if (!json.accept(':') || !json.number(number)) return false;
        event.at = number.value;
      } else {
        return false;
      }
    }
    return json.accept('}');
  }
};

// [1,2,3],[1,2,4]: stacks begin with much of the one before, and what is spelt as there is not read again.
struct SamplePiece {
  struct Sample {
    std::uint32_t same, others;
  };
  std::vector<Sample> samples;
  std::vector<FrameNumber> frames;  // of all samples, those that are not as before

  bool read(std::string_view text, const StoredProfile& profile) {
    samples.clear();
    frames.clear();
    ends_.clear();
    before_ = text.data();
    PlainJson json(text);
    do {
      if (!json.accept('[') || !read_sample(json, profile)) return false;
    } while (json.accept(','));
    return json.at_end();
  }

 private:
  bool read_sample(PlainJson& json, const StoredProfile& profile) {
    const char* const begin = json.at();
    const std::size_t same_bytes = common_bytes(begin, json.end());
    std::size_t same = ends_.size();
    while (same > 0 && ends_[same - 1] > same_bytes) --same;
    ends_.resize(same);
    before_ = begin;
    const std::size_t had = frames.size();
    if (same > 0) json.go_to(begin + ends_.back());
    if (same > 0 ? json.at()[-1] != ']' : !json.accept(']')) {
      for (bool more = true; more;) {
        FrameNumber frame = 0;
        if (!json.natural(frame)) return false;
        frames.push_back(frame_of(profile, frame));
        more = json.accept(',');
        if (!more && !json.accept(']')) return false;
        ends_.push_back(static_cast<std::size_t>(json.at() - begin));
      }
    }
    samples.push_back({static_cast<std::uint32_t>(same), static_cast<std::uint32_t>(frames.size() - had)});
    return true;
  }

  // With the sample before, not beyond its end.
  [[nodiscard]] std::size_t common_bytes(const char* at, const char* end) const {
    const std::size_t most = ends_.empty() ? 0 : std::min(ends_.back(), static_cast<std::size_t>(end - at));
    std::size_t same = 0;
    for (std::uint64_t a = 0, b = 0; same + 8 <= most && a == b; same += 8) {
      std::memcpy(&a, at + same, 8);
      std::memcpy(&b, before_ + same, 8);
      if (a != b) break;
    }
    while (same < most && at[same] == before_[same]) ++same;
    return same;
  }

  const char* before_ = nullptr;   // where the sample before begins
  std::vector<std::size_t> ends_;  // of its frames there, commas included
};

// A list of numbers, one after the other.
class PlainNumbers {
 public:
  explicit PlainNumbers(std::string_view list) : json_(list) { plain_ = json_.accept('['), over_ = json_.accept(']'); }
  [[nodiscard]] bool plain() const { return plain_; }
  [[nodiscard]] bool over() const { return over_; }
  double next() {
    JsonNumber number;
    plain_ = plain_ && json_.number(number);
    over_ = !json_.accept(',');
    plain_ = plain_ && (!over_ || (json_.accept(']') && json_.at_end()));
    return number.value;
  }

 private:
  PlainJson json_;
  bool plain_ = true;
  bool over_ = false;
};

// What a profile says beside its lists; whether that is JSON.
bool is_sound_without(std::string_view text, std::vector<std::string_view> lists) {
  std::sort(lists.begin(), lists.end(), [](auto a, auto b) { return a.data() < b.data(); });
  std::string rest;
  const char* at = text.data();
  for (const std::string_view list : lists) {
    rest.append(at, list.data()).append("[]");
    at = list.data() + list.size();
  }
  rest.append(at, text.data() + text.size());
  dom::parser parser;
  dom::element root;
  return parser.parse(rest).get(root) == simdjson::SUCCESS;
}

bool is_list(std::string_view text) { return text.starts_with('[') && text.ends_with(']'); }

Result<dom::element> parsed(const StoredProfile& profile, dom::parser& parser) {
  dom::element root;
  if (const auto code = parser.parse(profile.text.data(), profile.text.size()).get(root)) {
    return Error(fmt::format("profile '{}': {}", profile.name, simdjson::error_message(code)));
  }
  return root;
}

// All but the first ones, which were taken already, as a JSON parser finds them; says how many are no events.
Result<std::uint64_t> other_events(const StoredProfile& profile, const Work& work, std::uint64_t taken,
                                   const std::function<void(bool, FrameNumber, double)>& take) {
  FATHOM_TRY(const auto reserved, room_to_parse(profile.text, work));
  dom::parser parser;
  FATHOM_TRY(const dom::element root, parsed(profile, parser));
  dom::array events;
  if (root["events"].get(events) != simdjson::SUCCESS)
    return Error(fmt::format("profile '{}' has no events", profile.name));
  std::uint64_t bad = 0;
  for (const dom::element one : events) {
    if (taken > 0) {
      --taken;
      continue;
    }
    std::string_view type;
    double at = 0;
    std::uint64_t frame = 0;
    if (one["type"].get(type) != simdjson::SUCCESS || one["at"].get(at) != simdjson::SUCCESS ||
        one["frame"].get(frame) != simdjson::SUCCESS || (type != "O" && type != "C")) {
      ++bad;
      continue;
    }
    take(type == "O", frame_of(profile, frame), at);
  }
  return bad;
}

// The same of samples.
Result<std::uint64_t> other_samples(
    const StoredProfile& profile, const Work& work, std::uint64_t taken,
    const std::function<void(std::size_t, std::span<const FrameNumber>, double)>& take) {
  FATHOM_TRY(const auto reserved, room_to_parse(profile.text, work));
  dom::parser parser;
  FATHOM_TRY(const dom::element root, parsed(profile, parser));
  dom::array samples;
  dom::array weights;
  if (root["samples"].get(samples) != simdjson::SUCCESS || root["weights"].get(weights) != simdjson::SUCCESS) {
    return Error(fmt::format("profile '{}' has no samples with weights", profile.name));
  }
  std::uint64_t bad = 0;
  std::vector<FrameNumber> stack;
  auto weight = weights.begin();
  for (const dom::element one : samples) {
    double value = 0;
    const bool has_weight = weight != weights.end() && (*weight).get(value) == simdjson::SUCCESS;
    if (weight != weights.end()) ++weight;
    if (taken > 0) {
      --taken;
      continue;
    }
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
      stack.push_back(frame_of(profile, number));
    }
    if (!sound) {
      ++bad;
      continue;
    }
    take(0, stack, value);
  }
  for (; weight != weights.end(); ++weight) ++bad;  // of no sample
  return bad;
}

}  // namespace

Result<std::uint64_t> each_event(const StoredProfile& profile, const Work& work,
                                 const std::function<void(bool, FrameNumber, double)>& take) {
  std::uint64_t taken = 0;
  if (is_list(profile.events) && is_sound_without(profile.text, {profile.events})) {
    FATHOM_TRY(const bool plain,
               each_plain_piece<EventPiece>(
                   profile.events, '{', '}',
                   [&](EventPiece& piece, std::string_view text) { return piece.read(text, profile); },
                   [&](const EventPiece& piece) -> Result<bool> {
                     for (const EventPiece::Event& event : piece.events) take(event.opens, event.frame, event.at);
                     taken += piece.events.size();
                     return true;
                   }));
    if (plain) return std::uint64_t{0};
  }
  return other_events(profile, work, taken, take);
}

Result<std::uint64_t> each_sample(const StoredProfile& profile, const Work& work,
                                  const std::function<void(std::size_t, std::span<const FrameNumber>, double)>& take) {
  std::uint64_t taken = 0;
  std::uint64_t bad = 0;
  if (is_list(profile.samples) && is_list(profile.weights) &&
      is_sound_without(profile.text, {profile.samples, profile.weights})) {
    PlainNumbers weights(profile.weights);
    const auto take_piece = [&](const SamplePiece& piece) -> Result<bool> {
      const FrameNumber* frames = piece.frames.data();
      for (const auto& [same, others] : piece.samples) {
        if (weights.over()) {
          ++bad;
        } else {
          const double weight = weights.next();
          if (!weights.plain()) return false;
          take(same, {frames, others}, weight);
        }
        ++taken;
        frames += others;
      }
      return true;
    };
    FATHOM_TRY(bool plain,
               each_plain_piece<SamplePiece>(
                   profile.samples, '[', ']',
                   [&](SamplePiece& piece, std::string_view text) { return piece.read(text, profile); }, take_piece));
    std::uint64_t of_none = 0;
    for (; plain && !weights.over(); plain = weights.plain()) {
      weights.next();
      ++of_none;
    }
    if (plain) return bad + of_none;
  }
  FATHOM_TRY(const std::uint64_t others, other_samples(profile, work, taken, take));
  return bad + others;
}

}  // namespace fathom::speedscope
