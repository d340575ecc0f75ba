#include "formats/perfetto/sequence.hpp"

#include "formats/perfetto/fields.hpp"
#include "formats/perfetto/proto.hpp"

namespace fathom::perfetto {

void Sequence::clear() {
  names.clear();
  categories.clear();
  annotation_names.clear();
  strings.clear();
  sources.clear();
  regions.clear();
  sums.clear();
  default_clock.reset();
  default_track.reset();
  default_counters.clear();
  default_double_counters.clear();
}

SourceLocation source_location(std::string_view message) {
  SourceLocation made;
  FieldCursor cursor(message);
  for (Field field; cursor.next(field);) {
    if (field.number == entry_field::file && field.wire == Wire::bytes) made.file = field.bytes;
    if (field.number == entry_field::line && field.wire == Wire::varint) {
      made.line = static_cast<std::uint32_t>(field.value);
    }
  }
  return made;
}

void Sequence::take_interned(std::string_view message) {
  FieldCursor cursor(message);
  for (Field field; cursor.next(field);) {
    if (field.wire != Wire::bytes) continue;
    std::uint64_t iid = 0;
    std::string_view text;
    FieldCursor inner(field.bytes);
    for (Field part; inner.next(part);) {
      if (part.number == entry_field::iid) iid = part.value;
      if (part.number == entry_field::text && part.wire == Wire::bytes) text = part.bytes;
    }
    switch (field.number) {
      case interned_field::event_categories:
        categories[iid] = text;
        break;
      case interned_field::event_names:
        names[iid] = text;
        regions.erase(iid);
        break;
      case interned_field::annotation_names:
        annotation_names[iid] = text;
        break;
      case interned_field::annotation_strings:
        strings[iid] = text;
        break;
      case interned_field::source_locations:
        sources[iid] = source_location(field.bytes);
        break;
      default:
        break;
    }
  }
}

void Sequence::take_defaults(std::string_view message) {
  default_clock.reset();
  default_track.reset();
  default_counters.clear();
  default_double_counters.clear();
  FieldCursor cursor(message);
  for (Field field; cursor.next(field);) {
    if (field.number == packet_field::clock_id) default_clock = field.value;
    if (field.number != packet_field::track_event || field.wire != Wire::bytes) continue;
    FieldCursor inner(field.bytes);
    for (Field part; inner.next(part);) {
      if (part.number == event_field::track_uuid) default_track = part.value;
      if (part.number == event_field::extra_counters) {
        each_number(part, [&](std::uint64_t uuid) { default_counters.push_back(uuid); });
      }
      if (part.number == event_field::extra_double_counters) {
        each_number(part, [&](std::uint64_t uuid) { default_double_counters.push_back(uuid); });
      }
    }
  }
}

void Sequence::take_references(std::string_view thread_descriptor) {
  has_thread = true;
  FieldCursor cursor(thread_descriptor);
  for (Field field; cursor.next(field);) {
    if (field.number == thread_field::reference_time_us) time_us = field.integer();
    if (field.number == thread_field::reference_thread_time_us) thread_time_us = field.integer();
    if (field.number == thread_field::reference_instructions) instructions = field.integer();
  }
}

}  // namespace fathom::perfetto
