#include "formats/speedscope/profile_lists.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cstring>

#include "formats/met_stacks.hpp"
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

// [1,2,3],[1,2,4]: where each sample stands. Most stacks come again and again, and those that are spelt alike need to
// be read once.
struct SamplePiece {
  struct Sample {
    std::string_view stack;  // without its first bracket
    std::uint64_t hash;
  };
  std::vector<Sample> samples;
  const char* end = nullptr;  // of the text

  bool read(std::string_view text) {
    samples.clear();
    PlainJson json(text);
    end = json.end();
    do {
      if (!json.accept('[')) return false;
      const void* const bracket = std::memchr(json.at(), ']', static_cast<std::size_t>(end - json.at()));
      if (bracket == nullptr) return false;
      const char* const behind = static_cast<const char*>(bracket) + 1;
      const std::string_view stack(json.at(), static_cast<std::size_t>(behind - json.at()));
      samples.push_back({stack, MetStacks::hash_of(stack)});
      json.go_to(behind);
    } while (json.accept(','));
    return json.at_end();
  }

  // False where it is not as usual.
  bool read_stack(std::string_view stack, const StoredProfile& profile, std::vector<FrameNumber>& frames) const {
    frames.clear();
    PlainJson json({stack.data(), static_cast<std::size_t>(end - stack.data())});
    if (json.accept(']')) return true;
    do {
      FrameNumber frame = 0;
      if (!json.natural(frame)) return false;
      frames.push_back(frame_of(profile, frame));
    } while (json.accept(','));
    return json.accept(']');
  }
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
Result<std::uint64_t> other_samples(const StoredProfile& profile, const Work& work, std::uint64_t taken,
                                    const FindStack& find, const std::function<void(std::uint32_t, double)>& take) {
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
    take(find(stack), value);
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

Result<std::uint64_t> each_sample(const StoredProfile& profile, const Work& work, const FindStack& find,
                                  const std::function<void(std::uint32_t, double)>& take) {
  std::uint64_t taken = 0;
  std::uint64_t bad = 0;
  if (is_list(profile.samples) && is_list(profile.weights) &&
      is_sound_without(profile.text, {profile.samples, profile.weights})) {
    PlainNumbers weights(profile.weights);
    MetStacks met;
    std::vector<FrameNumber> frames;
    constexpr std::size_t kAhead = 8;
    const auto take_piece = [&](const SamplePiece& piece) -> Result<bool> {
      const auto& samples = piece.samples;
      for (std::size_t i = 0; i < samples.size(); ++i, ++taken) {
        if (weights.over()) {
          ++bad;
          continue;
        }
        const double weight = weights.next();
        if (!weights.plain()) return false;
        if (i + 2 * kAhead < samples.size()) met.expect(samples[i + 2 * kAhead].hash);
        if (i + kAhead < samples.size()) met.expect_soon(samples[i + kAhead].hash);
        const auto& [stack, hash] = samples[i];
        auto known = met.find(stack, hash);
        if (!known) {
          if (!piece.read_stack(stack, profile, frames)) return false;
          known = {find(frames)};
          met.put(stack, *known);
        }
        take(known->node, weight);
      }
      return true;
    };
    FATHOM_TRY(bool plain, each_plain_piece<SamplePiece>(
                               profile.samples, '[', ']',
                               [](SamplePiece& piece, std::string_view text) { return piece.read(text); }, take_piece));
    std::uint64_t of_none = 0;
    for (; plain && !weights.over(); plain = weights.plain()) {
      weights.next();
      ++of_none;
    }
    if (plain) return bad + of_none;
  }
  FATHOM_TRY(const std::uint64_t others, other_samples(profile, work, taken, find, take));
  return bad + others;
}

}  // namespace fathom::speedscope
