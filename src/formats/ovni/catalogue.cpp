#include "formats/ovni/catalogue.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace fathom::ovni {

namespace {

constexpr EventDef kEvents[] = {
#include "formats/ovni/catalogue_events.inc"
};
constexpr ValueLabel kLabels[] = {
#include "formats/ovni/catalogue_labels.inc"
};

// Open addressing over the packed codes; a quarter full, so that most lookups end at the first slot.
constexpr std::size_t kSlots = 2048;
constexpr std::size_t slot_of(Mcv mcv) { return (mcv * 0x9E3779B1U) >> 21; }

struct Index {
  std::array<Mcv, kSlots> keys{};
  std::array<std::int16_t, kSlots> values{};
};

constexpr Index make_index() {
  Index index;
  index.values.fill(-1);
  for (std::size_t i = 0; i < std::size(kEvents); ++i) {
    const Mcv mcv = pack_mcv(kEvents[i].mcv);
    std::size_t slot = slot_of(mcv);
    while (index.values[slot] >= 0) slot = (slot + 1) % kSlots;
    index.keys[slot] = mcv;
    index.values[slot] = static_cast<std::int16_t>(i);
  }
  return index;
}
constexpr Index kIndex = make_index();

std::uint8_t size_of(ArgType type) {
  switch (type) {
    case ArgType::i32:
    case ArgType::u32:
      return 4;
    case ArgType::i64:
    case ArgType::u64:
      return 8;
    case ArgType::text:
      return 1;
  }
  return 0;
}

ArgType type_of(std::string_view name) {
  if (name == "i32") return ArgType::i32;
  if (name == "i64") return ArgType::i64;
  if (name == "u64") return ArgType::u64;
  if (name == "str") return ArgType::text;
  return ArgType::u32;
}

EventInfo explain(const EventDef& def) {
  EventInfo info{.def = &def, .arguments = {}, .sentence = {}, .minimum_payload = 0};
  if (!def.arguments.empty()) {
    for (const std::string_view item : split(def.arguments, ' ')) {
      const auto colon = item.find(':');
      const ArgType type = type_of(item.substr(colon + 1));
      info.arguments.push_back({item.substr(0, colon), type, static_cast<std::uint8_t>(info.minimum_payload)});
      info.minimum_payload += size_of(type);
    }
  }
  std::string_view rest = def.sentence;
  for (;;) {
    const auto open = rest.find('{');
    if (open == std::string_view::npos) break;
    const auto close = rest.find('}', open);
    const std::string_view name = rest.substr(open + 1, close - open - 1);
    const auto found = std::find_if(info.arguments.begin(), info.arguments.end(),
                                    [&](const Argument& argument) { return argument.name == name; });
    info.sentence.push_back({rest.substr(0, open), static_cast<int>(found - info.arguments.begin())});
    rest = rest.substr(close + 1);
  }
  if (!rest.empty()) info.sentence.push_back({rest, -1});
  return info;
}

}  // namespace

std::string_view mcv_text(Mcv mcv, std::array<char, 3>& buffer) {
  buffer = {static_cast<char>(mcv & 0xff), static_cast<char>(mcv >> 8 & 0xff), static_cast<char>(mcv >> 16 & 0xff)};
  return {buffer.data(), buffer.size()};
}

std::span<const EventDef> all_events() { return kEvents; }

int find_event(Mcv mcv) {
  std::size_t slot = slot_of(mcv);
  while (kIndex.values[slot] >= 0) {
    if (kIndex.keys[slot] == mcv) return kIndex.values[slot];
    slot = (slot + 1) % kSlots;
  }
  return -1;
}

const EventInfo& event_info(int index) {
  static const std::vector<EventInfo> kInfos = [] {
    std::vector<EventInfo> infos;
    for (const EventDef& def : kEvents) infos.push_back(explain(def));
    return infos;
  }();
  return kInfos[static_cast<std::size_t>(index)];
}

std::span<const ValueLabel> all_labels() { return kLabels; }

std::string_view find_label(int type, std::int64_t value) {
  for (const ValueLabel& label : kLabels) {
    if (label.type == type && label.value == value) return label.label;
  }
  return {};
}

}  // namespace fathom::ovni
