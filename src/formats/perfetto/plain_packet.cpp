#include "formats/perfetto/plain_packet.hpp"

#include "formats/perfetto/fields.hpp"
#include "formats/perfetto/mapping.hpp"
#include "formats/perfetto/proto.hpp"

namespace fathom::perfetto {

namespace {

// Fields are read key by key here: telling first what there is and then what it means costs twice as much.
constexpr std::uint64_t number_key(std::uint32_t field) { return protobuf::key_of(field, Wire::varint); }
constexpr std::uint64_t bytes_key(std::uint32_t field) { return protobuf::key_of(field, Wire::bytes); }
bool is_number(std::uint64_t key) { return (key & 7) == static_cast<std::uint64_t>(Wire::varint); }

// False for an event that is more than a begin or end.
bool read_event(std::string_view message, PlainPacket& packet) {
  std::uint64_t type = 0, key = 0, value = 0;
  std::string_view bytes;
  FieldCursor cursor(message);
  while (!cursor.at_end()) {
    if (!cursor.varint(key) || !(is_number(key) ? cursor.varint(value) : cursor.bytes(bytes))) return false;
    switch (key) {
      case number_key(event_field::type):
        type = value;
        break;
      case number_key(event_field::track_uuid):
        packet.track = value;
        packet.has_track = true;
        break;
      case number_key(event_field::name_iid):
        if (value == 0) return false;
        packet.name_iid = value;
        break;
      // Of use only where a name is met first, which is read in full.
      case number_key(event_field::category_iids):
      case bytes_key(event_field::category_iids):
      case bytes_key(event_field::categories):
      case bytes_key(event_field::source_location):
      case number_key(event_field::source_location_iid):
      case bytes_key(event_field::annotations):
        break;
      default:
        return false;
    }
  }
  packet.begins = type == event_type::slice_begin;
  return packet.begins ? packet.name_iid != 0 : type == event_type::slice_end;
}

}  // namespace

void PlainPacket::read() {
  std::string_view event;
  bool timed = false;
  std::uint64_t key = 0, value = 0;
  FieldCursor cursor(bytes);
  while (!cursor.at_end()) {
    if (!cursor.varint(key)) return;
    if (key == bytes_key(packet_field::track_event)) {
      if (!event.empty() || !cursor.bytes(event)) return;
      continue;
    }
    if (!is_number(key) || !cursor.varint(value)) return;
    switch (key) {
      case number_key(packet_field::timestamp):
        if (value > static_cast<std::uint64_t>(kLatest)) return;
        time = static_cast<std::int64_t>(value);
        timed = true;
        break;
      case number_key(packet_field::sequence_id):
        sequence = static_cast<std::uint32_t>(value);
        break;
      case number_key(packet_field::sequence_flags):
        if ((value & sequence_flag::cleared) != 0) return;
        break;
      case number_key(packet_field::trusted_uid):
      case number_key(packet_field::trusted_pid):
      case number_key(packet_field::first_on_sequence):
      case number_key(packet_field::machine_id):
        break;
      default:
        return;
    }
  }
  plain = timed && !event.empty() && read_event(event, *this);
}

}  // namespace fathom::perfetto
