#include "formats/perfetto/plain_packet.hpp"

#include "formats/perfetto/fields.hpp"
#include "formats/perfetto/mapping.hpp"
#include "formats/perfetto/proto.hpp"

namespace fathom::perfetto {

namespace {

// False for an event that is more than a begin or end.
bool read_event(std::string_view message, PlainPacket& packet) {
  std::uint64_t type = 0;
  FieldCursor cursor(message);
  for (Field field; cursor.next(field);) {
    switch (field.number) {
      case event_field::type:
        if (field.wire != Wire::varint) return false;
        type = field.value;
        break;
      case event_field::track_uuid:
        if (field.wire != Wire::varint) return false;
        packet.track = field.value;
        packet.has_track = true;
        break;
      case event_field::name_iid:
        if (field.wire != Wire::varint || field.value == 0) return false;
        packet.name_iid = field.value;
        break;
      // Of use only where a name is met first, which is read in full.
      case event_field::category_iids:
      case event_field::categories:
      case event_field::source_location:
      case event_field::source_location_iid:
      case event_field::annotations:
        break;
      default:
        return false;
    }
  }
  packet.begins = type == event_type::slice_begin;
  const bool named = packet.name_iid != 0;
  return cursor.failed() == nullptr && (packet.begins ? named : type == event_type::slice_end);
}

}  // namespace

void PlainPacket::read() {
  std::string_view event;
  bool timed = false;
  FieldCursor cursor(bytes);
  for (Field field; cursor.next(field);) {
    if (field.number == packet_field::track_event) {
      if (field.wire != Wire::bytes || !event.empty()) return;
      event = field.bytes;
      continue;
    }
    if (field.wire != Wire::varint) return;
    switch (field.number) {
      case packet_field::timestamp:
        if (field.value > static_cast<std::uint64_t>(kLatest)) return;
        time = field.integer();
        timed = true;
        break;
      case packet_field::sequence_id:
        sequence = static_cast<std::uint32_t>(field.value);
        break;
      case packet_field::sequence_flags:
        if ((field.value & sequence_flag::cleared) != 0) return;
        break;
      case packet_field::trusted_uid:
      case packet_field::trusted_pid:
      case packet_field::first_on_sequence:
      case packet_field::machine_id:
        break;
      default:
        return;
    }
  }
  plain = timed && !event.empty() && cursor.failed() == nullptr && read_event(event, *this);
}

}  // namespace fathom::perfetto
