// Events of old versions, which have phases as Chrome's JSON has them.
#include <bit>

#include "base/text.hpp"
#include "formats/perfetto/annotations.hpp"
#include "formats/perfetto/fields.hpp"
#include "formats/perfetto/mapping.hpp"

namespace fathom::perfetto {

namespace {

enum : std::uint64_t { kFlowIn = 1, kFlowOut = 2 };

std::uint64_t key_of(std::string_view category, std::string_view scope, std::uint64_t id) {
  const std::hash<std::string_view> hash;
  return id ^ hash(scope) * 31 ^ hash(category) * 17;
}

}  // namespace

// Every number among the arguments is a counter of its own.
void PerfettoMapping::legacy_counters(const TrackEvent& event, const Sequence& sequence, std::uint32_t row,
                                      const Moment& at) {
  const std::string name(name_of(event, sequence));
  for (const std::string_view annotation : event.annotations) {
    each_annotation(annotation, &sequence, [&](std::string_view key, const std::string& text) {
      const auto number = parse_double(text);
      if (!number) return;
      counters_.add(key.empty() || key == "value" ? name : name + ' ' + std::string(key), row, at.time, at.number,
                    *number);
    });
  }
}

void PerfettoMapping::legacy(const TrackEvent& event, Sequence& sequence, const Moment& at) {
  const LegacyEvent& old = *event.legacy;
  const std::uint32_t row = tracks_.row(at.track);
  if (old.bind_id && old.flow_direction != 0) {
    const std::uint64_t id = key_of("bind_id", {}, *old.bind_id);
    store_.flow(row, marked("flow", at), id,
                flow_part((old.flow_direction & kFlowIn) != 0, (old.flow_direction & kFlowOut) != 0));
  }
  flows(event, row, at);
  const auto named_region = [&] { return event.has_name ? interned_region(event, sequence) : Event::kNoName; };
  switch (old.phase) {
    case 'B':
      return store_.begin(row, at.time, interned_region(event, sequence), at.number);
    case 'E':
      return store_.end(row, at.time, named_region(), at.number);
    case 'X': {
      const std::int64_t length =
          std::clamp<std::int64_t>(old.duration_us, 0, (kLatest - std::max<std::int64_t>(at.time, 0)) / 1000);
      return store_.slice(row, at.time, at.time + length * 1000, interned_region(event, sequence), at.number);
    }
    case 'b':
    case 'S':
    case 'e':
    case 'F': {
      const std::uint64_t key = key_of(category_of(event, sequence), old.scope, old.id.value_or(0));
      // Ids may be shared by all processes: one row for all of them.
      const std::uint32_t shared = tracks_.row(kFloatingTrack);
      tracks_.track(kFloatingTrack).name = "async";
      if (old.phase == 'b' || old.phase == 'S') {
        store_.begin_floating(shared, key, at.time, interned_region(event, sequence), at.number);
      } else {
        store_.end_floating(shared, key, at.time, named_region(), at.number);
      }
      return;
    }
    case 's':
    case 't':
    case 'f': {
      const std::string_view name = name_of(event, sequence);
      const std::uint64_t key = key_of(category_of(event, sequence), name, old.id.value_or(old.bind_id.value_or(0)));
      return store_.flow(row, marked(name, at), key, flow_part(old.phase));
    }
    case 'C':
      return legacy_counters(event, sequence, row, at);
    default:
      store_.point(row, marked(name_of(event, sequence), at));
  }
}

}  // namespace fathom::perfetto
